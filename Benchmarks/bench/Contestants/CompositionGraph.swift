internal import Kernels
internal import Model
internal import Platform

/// A definition's composition as a filter graph of ffmpeg. The inputs are the back clip, the front clip and the mask of
/// the inset.
struct CompositionGraph {
  private let definition: Definition
  private let inset: Definition.Inset
  private let insetSize: Size
  /// The path of the inset's mask.
  let mask: String

  /// Writes the mask into a folder. It does not depend on the clips, so this is not measured.
  init(_ definition: Definition, masks folder: String) throws {
    guard let composed = definition.outputs[.composed]?.composed, composed.layout == .inset,
      composed.inset.corner == .topLeft, composed.inset.border == nil
    else { throw BenchError("only an inset in the top left corner, without a border, can be compared with ffmpeg") }
    self.definition = definition
    inset = composed.inset
    let canvas = definition.canvas
    let width = Double(canvas.width) * inset.width
    insetSize = Size(
      width: Size.even(width), height: Size.even(width * Double(canvas.height) / Double(canvas.width)))
    mask = "\(folder)/mask-\(insetSize.width).pgm"
    try RoundedMask.write(insetSize, radius: inset.radius, to: mask)
  }

  /// Returns the filter graph.
  ///
  /// - Parameters:
  ///   - composed: the label of the composed stream.
  ///   - stills: the stills, each at its label.
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
      ] + stills.map(stillFilters)
    return parts.joined(separator: ";")
  }

  private func split(_ input: String, to first: String, and rest: [StillOutput]) -> String {
    let outputs = [first] + rest.map { "\($0.label)s" }
    return "\(input)split=\(outputs.count)" + outputs.map { "[\($0)]" }.joined()
  }

  private func stillFilters(_ output: StillOutput) -> String {
    let end = output.still.at + 0.9 / Double(definition.canvas.framesPerSecond)
    return "[\(output.label)s]trim=start=\(output.still.at):end=\(end),scale=\(output.size.width):\(output.size.height)"
      + "[\(output.label)]"
  }
}

/// A still of a definition, as a filter graph makes it.
struct StillOutput {
  let role: Role
  let still: Definition.Still
  /// The label of its stream in the graph.
  let label: String
  let size: Size

  /// Returns all stills of a definition.
  static func all(of definition: Definition) -> [StillOutput] {
    let outputs = definition.outputs
    let stills: [(Role, Definition.Still?, String)] = [
      (.poster, outputs[.poster]?.still, "po"), (.thumbnailFront, outputs[.thumbnailFront]?.still, "ft"),
      (.thumbnailBack, outputs[.thumbnailBack]?.still, "bt"),
    ]
    return stills.compactMap { role, still, label in
      still.map {
        StillOutput(role: role, still: $0, label: label, size: definition.canvas.size.fitted(longEdge: $0.longEdge))
      }
    }
  }
}

/// The mask of the inset as an image, an input of ffmpeg.
enum RoundedMask {
  /// Writes the mask as a portable graymap, white where the inset is opaque.
  static func write(_ size: Size, radius: Int, to path: String) throws {
    var rows = [UInt8](repeating: 255, count: size.width * size.height)
    let corner = CornerMask(radius: radius)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (column, row) = (min(x, size.width - 1 - x), min(y, size.height - 1 - y))
        guard column < corner.side && row < corner.side else { continue }
        rows[y * size.width + x] = corner.coverage[row * corner.side + column]
      }
    }
    let file = try Descriptor(writing: path, replacing: true)
    try file.write(Array("P5 \(size.width) \(size.height) 255\n".utf8) + rows)
  }
}
