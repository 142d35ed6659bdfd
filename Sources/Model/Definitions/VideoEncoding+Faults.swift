extension Definition.VideoEncoding {
  /// The presets of x264 (`x264_preset_names` in x264.h), from fast to slow.
  private static let presets = [
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
  ]

  /// Of the constant rate factor: below 1 x264 is lossless, which the profile High is not.
  private static let crfRange = NumberRange(1, 51)

  /// The parameters of x264 that are integers and change nothing else than quality, size and speed, with the values that x264 takes.
  /// FFmpeg ignores a name that x264 does not know, and options of threads would change the bytes.
  private static let parameters: [String: NumberRange] = {
    let flag = NumberRange(0, 1)
    return [
      "8x8dct": flag, "aq-mode": NumberRange(0, 3), "b-adapt": NumberRange(0, 2), "b-bias": NumberRange(-90, 100),
      "b-pyramid": NumberRange(0, 2), "bframes": NumberRange(0, 16), "cabac": flag,
      "chroma-me": flag, "chroma-qp-offset": NumberRange(-12, 12), "cpu-independent": NumberRange(1, 1),
      "crf-max": NumberRange(1, 51), "dct-decimate": flag, "deadzone-inter": NumberRange(0, 32),
      "deadzone-intra": NumberRange(0, 32), "fast-pskip": flag, "intra-refresh": flag,
      "keyint": NumberRange(1, 100_000),
      "mbtree": flag, "merange": NumberRange(4, 64), "min-keyint": NumberRange(1, 100_000), "mixed-refs": flag,
      "nr": NumberRange(0, 1000), "open-gop": flag, "psy": flag, "qpmax": NumberRange(1, 51),
      "qpmin": NumberRange(0, 51),
      "qpstep": NumberRange(1, 51), "rc-lookahead": NumberRange(0, 250), "ref": NumberRange(1, 16),
      "scenecut": NumberRange(0, 400), "subme": NumberRange(0, 11), "trellis": NumberRange(0, 2),
      "vbv-bufsize": NumberRange(0, 1e6), "vbv-maxrate": NumberRange(0, 1e6), "weightb": flag,
      "weightp": NumberRange(0, 2),
    ]
  }()

  /// - Parameter path: of the settings in the definition.
  func addFaults(_ path: String, to faults: inout DefinitionFaults) {
    faults.require(
      Self.presets.contains(preset), "\(path).preset",
      "'\(preset)' is not one of \(Self.presets.joined(separator: ", "))")
    faults.require(crf, in: Self.crfRange, "\(path).crf")
    for (name, value) in x264.sorted(by: { $0.key < $1.key }) {
      // x264 reads them as one.
      guard let range = Self.parameters[name.replacing("_", with: "-")] else {
        let names = Self.parameters.keys.sorted().joined(separator: ", ")
        faults.require(false, "\(path).x264.\(name)", "it is not one of \(names)")
        continue
      }
      faults.require(value, in: range, "\(path).x264.\(name)")
    }
  }
}
