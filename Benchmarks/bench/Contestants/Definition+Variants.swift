internal import Model

extension Definition {
  /// The sizes of the stills, the same for all contestants.
  private static let (posterEdge, thumbnailEdge) = (1280, 640)

  /// Returns the definition with only the outputs that all contestants make: composed video, poster and two thumbnails.
  func comparable() throws -> Definition {
    var definition = self
    let compared: [Role] = [.composed, .poster, .thumbnailFront, .thumbnailBack]
    for role in outputs.roles where !compared.contains(role) { definition.outputs[role] = nil }
    definition.outputs[.poster]?.still?.longEdge = Self.posterEdge
    definition.outputs[.thumbnailFront]?.still?.longEdge = Self.thumbnailEdge
    definition.outputs[.thumbnailBack]?.still?.longEdge = Self.thumbnailEdge
    guard definition.outputs.roles == compared else {
      throw BenchError("the definition \(name) lacks outputs of the contestants")
    }
    return definition
  }

  /// Returns the definition on a canvas of another width, with all lengths in pixels scaled.
  func scaled(toWidth width: Int) -> Definition {
    let scale = Double(width) / Double(canvas.width)
    func scaled(_ pixels: Int) -> Int { Int((Double(pixels) * scale).rounded()) }
    var definition = self
    definition.canvas.width = width
    definition.canvas.height = Size.even(Double(canvas.height) * scale)
    if let inset = outputs[.composed]?.composed?.inset {
      definition.outputs[.composed]?.composed?.inset.margin = scaled(inset.margin)
      definition.outputs[.composed]?.composed?.inset.radius = scaled(inset.radius)
    }
    return definition
  }

  /// Returns the definition with another encoding of the composed video.
  func encoded(_ video: VideoEncoding) -> Definition {
    var definition = self
    definition.outputs[.composed]?.composed?.video = video
    return definition
  }

  /// A name that distinguishes variants, also part of a file's name: `1080-veryfast-23.0-bframes1-subme1`.
  var variant: String {
    let encoding = (outputs[.composed]?.composed).map { composed in
      let parameters = composed.video.x264.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }
      return [composed.video.preset, "\(composed.video.crf)"] + parameters
    }
    return (["\(canvas.width)"] + (encoding ?? [])).joined(separator: "-")
  }
}
