internal import Model

extension Definition {
  /// The sizes of the pictures beside the video, as the commands that it is compared with make them.
  private static let (posterEdge, thumbnailEdge) = (1280, 640)

  /// With the outputs that the other ways make too, and no others: composed video, poster and two thumbnails.
  func comparable() throws -> Definition {
    var definition = self
    definition.outputs.composedSwapped = nil
    definition.outputs.clipFront = nil
    definition.outputs.clipBack = nil
    definition.outputs.image = nil
    definition.outputs.preview = nil
    definition.outputs.poster?.longEdge = Self.posterEdge
    definition.outputs.thumbnailFront?.longEdge = Self.thumbnailEdge
    definition.outputs.thumbnailBack?.longEdge = Self.thumbnailEdge
    guard definition.outputs.roles == [.composed, .poster, .thumbnailFront, .thumbnailBack] else {
      throw BenchError("the definition \(name) makes other outputs than what it is compared with")
    }
    return definition
  }

  /// Of another size, everything that is measured in pixels with it.
  func scaled(toWidth width: Int) -> Definition {
    let scale = Double(width) / Double(canvas.width)
    func scaled(_ pixels: Int) -> Int { Int((Double(pixels) * scale).rounded()) }
    var definition = self
    definition.canvas.width = width
    definition.canvas.height = Size.even(Double(canvas.height) * scale)
    if let inset = outputs.composed?.inset {
      definition.outputs.composed?.inset.margin = scaled(inset.margin)
      definition.outputs.composed?.inset.radius = scaled(inset.radius)
    }
    return definition
  }

  /// With its composed video encoded in another way.
  func encoded(_ video: VideoEncoding) -> Definition {
    var definition = self
    definition.outputs.composed?.video = video
    return definition
  }

  /// What tells variants apart, fit for a file's name: `1080-veryfast-23.0-bframes1-subme1`.
  var variant: String {
    let encoding = outputs.composed.map { composed in
      let parameters = composed.video.x264.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }
      return [composed.video.preset, "\(composed.video.crf)"] + parameters
    }
    return (["\(canvas.width)"] + (encoding ?? [])).joined(separator: "-")
  }
}
