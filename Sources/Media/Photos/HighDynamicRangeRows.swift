/// Maps rows of RGBA of 16 bits to 8 bits: colours of more bits keep their steps, and transparent parts are laid on white after that.
struct HighDynamicRangeRows {
  /// Of red, green and blue between 0 and 1.
  private let mapping: SignalMapping
  /// The light of each sample, of colours as they are.
  private let lights: [Double]
  private let codes: LightCodes
  /// Whether colours are multiplied by alpha already; those that result are not.
  private let isPremultiplied: Bool
  /// Whether greys have the limited range of video.
  private let expandsGrey: Bool

  init(mapping: SignalMapping, isPremultiplied: Bool, expandsGrey: Bool) {
    (self.mapping, self.isPremultiplied, self.expandsGrey) = (mapping, isPremultiplied, expandsGrey)
    (lights, codes) = (mapping.sampleLights, mapping.codes)
  }

  func map(_ source: UnsafePointer<UInt16>, into target: UnsafeMutablePointer<UInt8>, count: Int) {
    let isAsCoded = !isPremultiplied && !expandsGrey
    for x in stride(from: 0, to: 4 * count, by: 4) {
      let scene =
        isAsCoded
        ? (lights[Int(source[x])], lights[Int(source[x + 1])], lights[Int(source[x + 2])]) : scene(source + x)
      let shown = mapping.shown(scene)
      target[x] = codes[shown.red]
      target[x + 1] = codes[shown.green]
      target[x + 2] = codes[shown.blue]
      target[x + 3] = UInt8((Int(source[x + 3]) + 128) / 257)
    }
  }

  /// The light of a pixel that is multiplied by alpha, or of limited range.
  private func scene(_ pixel: UnsafePointer<UInt16>) -> SignalMapping.Components {
    let whole = isPremultiplied && pixel[3] > 0 ? Double(pixel[3]) : 65535
    func signal(_ sample: UInt16) -> Double {
      let signal = Double(sample) / whole
      return min(max(expandsGrey ? (signal * 255 - 16) / 219 : signal, 0), 1)
    }
    return mapping.scene(signal(pixel[0]), signal(pixel[1]), signal(pixel[2]))
  }
}
