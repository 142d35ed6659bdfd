internal import Model
internal import Platform

/// A definition's composition as filters of the ffmpeg command, whose inputs are the back clip, the front clip and the
/// inset's mask.
struct CompositionGraph {
  private let definition: Definition
  private let inset: Definition.Inset
  private let insetSize: Size
  /// The picture of the inset's shape.
  let mask: String

  /// Writes the mask into a folder: an engineer makes it once, and so it is not measured.
  init(_ definition: Definition, masks folder: String) throws {
    guard let composed = definition.outputs.composed, composed.layout == .inset, composed.inset.corner == .topLeft,
      composed.inset.border == nil
    else { throw BenchError("only an inset in the top left corner is compared with ffmpeg") }
    self.definition = definition
    inset = composed.inset
    let canvas = definition.canvas
    let width = Double(canvas.width) * inset.width
    insetSize = Size(
      width: Size.even(width), height: Size.even(width * Double(canvas.height) / Double(canvas.width)))
    mask = "\(folder)/mask-\(insetSize.width).pgm"
    try RoundedMask.write(insetSize, radius: inset.radius, to: mask)
  }

  /// The graph.
  ///
  /// - Parameters:
  ///   - composed: the label of the composed stream.
  ///   - stills: pictures that are taken on the way, each once, at its label.
  func filters(to composed: String, stills: [StillOutput] = []) -> String {
    let canvas = definition.canvas.size
    let scale = canvas == PhoneFootage.size ? "" : "scale=\(canvas.width):\(canvas.height):flags=bicubic,"
    let parts =
      [
        split("[0:v]", to: "b", and: stills.filter { $0.still.from == .back }),
        split("[1:v]", to: "f", and: stills.filter { $0.still.from == .front }),
        "[f]scale=\(insetSize.width):\(insetSize.height):flags=bicubic,format=yuva420p[fs]",
        "[fs][2:v]alphamerge[fa]", "[b]\(scale)format=yuv420p[bb]",
        split(
          "[bb][fa]overlay=x=\(inset.margin):y=\(inset.margin):format=yuv420:eof_action=endall,", to: composed,
          and: stills.filter { $0.still.from == .composed }),
      ] + stills.map(picture)
    return parts.joined(separator: ";")
  }

  private func split(_ input: String, to first: String, and rest: [StillOutput]) -> String {
    let outputs = [first] + rest.map { "\($0.label)s" }
    return "\(input)split=\(outputs.count)" + outputs.map { "[\($0)]" }.joined()
  }

  private func picture(_ output: StillOutput) -> String {
    let end = output.still.at + 0.9 / Double(definition.canvas.framesPerSecond)
    return "[\(output.label)s]trim=start=\(output.still.at):end=\(end),scale=\(output.size.width):\(output.size.height)"
      + "[\(output.label)]"
  }
}
