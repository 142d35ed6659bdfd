internal import Kernels
internal import Model
internal import Platform

/// The same outputs as a careful engineer makes them with the ffmpeg command: a look at both inputs with ffprobe, then
/// one command that decodes each clip once, on one thread, and treats damage as an error.
struct FFmpegRun {
  let ffmpeg: String
  let ffprobe: String
  let definition: Definition
  let footage: PhoneFootage
  let folder: String

  private var inset: Definition.Inset? { definition.outputs.composed?.inset }
  private var mask: String { "\(folder)/mask.pgm" }

  private var insetSize: Size {
    let width = Double(definition.canvas.width) * (inset?.width ?? 0)
    let height = width * Double(definition.canvas.height) / Double(definition.canvas.width)
    return Size(width: Size.even(width), height: Size.even(height))
  }

  /// Writes the mask of the rounded corners, which is not measured: an engineer makes it once.
  func prepare() throws {
    let size = insetSize
    var rows = [UInt8](repeating: 255, count: size.width * size.height)
    let corner = CornerMask(radius: inset?.radius ?? 0)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (column, row) = (min(x, size.width - 1 - x), min(y, size.height - 1 - y))
        guard column < corner.side && row < corner.side else { continue }
        rows[y * size.width + x] = corner.coverage[row * corner.side + column]
      }
    }
    let file = try Descriptor(writing: mask, replacing: true)
    try file.write(Array("P5 \(size.width) \(size.height) 255\n".utf8) + rows)
  }

  /// Where an output is written to.
  func path(of role: Role) -> String { "\(folder)/\(role.fileName)" }

  /// What is run.
  var commands: [Command] {
    [footage.back, footage.front].enumerated().map { index, clip in
      Command(
        path: ffprobe, arguments: ["-v", "error", "-show_format", "-show_streams", "-of", "json", clip],
        log: "\(folder)/probe\(index).json")
    } + [Command(path: ffmpeg, arguments: arguments, log: "\(folder)/log")]
  }

  private var arguments: [String] {
    let strict = ["-threads", "1", "-err_detect", "explode", "-i"]
    return ["-y", "-nostdin", "-v", "error", "-xerror", "-filter_threads", "1", "-filter_complex_threads", "1"]
      + strict + [footage.back] + strict + [footage.front] + ["-i", mask]
      + ["-filter_complex", graph] + composed + stills.flatMap(output) + clips
  }

  /// A still with the label of the stream it is taken from and its own.
  private struct StillOutput {
    let role: Role
    let still: Definition.Still
    let label: String
  }

  private var stills: [StillOutput] {
    let outputs = definition.outputs
    let made: [(Role, Definition.Still?, String)] = [
      (.poster, outputs.poster, "p"), (.image, outputs.image, "i"), (.thumbnailFront, outputs.thumbnailFront, "tf"),
      (.thumbnailBack, outputs.thumbnailBack, "tb"),
    ]
    return made.compactMap { role, still, label in still.map { StillOutput(role: role, still: $0, label: label) } }
  }

  private var graph: String {
    let (size, margin) = (insetSize, inset?.margin ?? 0)
    func labels(_ source: Definition.Still.Source) -> [String] {
      stills.filter { $0.still.from == source }.map(\.label)
    }
    func split(_ input: String, _ first: String, _ rest: [String]) -> String {
      let outputs = [first] + rest
      return "\(input)split=\(outputs.count)" + outputs.map { "[\($0)s]" }.joined()
    }
    let parts = [
      split("[0:v]", "b", labels(.back)), split("[1:v]", "f", labels(.front)),
      "[fs]scale=\(size.width):\(size.height):flags=bicubic,format=yuva420p[fa]", "[fa][2:v]alphamerge[fm]",
      "[bs]format=yuv420p[bf]",
      split("[bf][fm]overlay=x=\(margin):y=\(margin):format=yuv420:eof_action=endall,", "v", labels(.composed)),
    ]
    let tenths = 1 / Double(definition.canvas.framesPerSecond)
    return
      (parts
      + stills.map { output in
        let target = definition.canvas.size.fitted(longEdge: output.still.longEdge)
        let end = output.still.at + 0.9 * tenths
        return "[\(output.label)s]trim=start=\(output.still.at):end=\(end),scale=\(target.width):\(target.height)"
          + "[\(output.label)]"
      }).joined(separator: ";")
  }

  private var composed: [String] {
    guard let video = definition.outputs.composed?.video else { return [] }
    let parameters = video.x264.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
    return [
      "-map", "[vs]", "-map", "1:a", "-c:v", "libx264", "-preset", video.preset, "-crf", "\(video.crf)",
      "-x264-params", parameters, "-pix_fmt", "yuv420p", "-threads", "1", "-c:a", "copy", "-movflags", "+faststart",
      path(of: .composed),
    ]
  }

  private func output(_ output: StillOutput) -> [String] {
    ["-map", "[\(output.label)]", "-frames:v", "1", "-q:v", "3", path(of: output.role)]
  }

  private var clips: [String] {
    [(0, Role.clipBack, definition.outputs.clipBack), (1, Role.clipFront, definition.outputs.clipFront)].flatMap {
      input, role, clip in
      clip == nil
        ? []
        : [
          "-map", "\(input)", "-c", "copy", "-map_metadata", "-1", "-movflags", "+faststart",
          path(of: role),
        ]
    }
  }
}
