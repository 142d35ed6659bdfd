import AV
import Kernels
import Model
import Platform
import Stills

/// Writes a frame as JPEG and computes its ThumbHash.
final class StillWriter {
  let plan: StillPlan
  private let file: OpenFile
  private let converter: UprightConverter
  /// The facts of the file; nil before it is written.
  private(set) var facts: OutputFacts?

  /// - Parameter layout: of the frame that is written.
  init(_ plan: StillPlan, layout: FrameLayout, file: OpenFile) throws(RunFailure) {
    self.plan = plan
    self.file = file
    converter = try UprightConverter(from: layout, to: plan.size)
  }

  /// Writes a frame.
  func write(_ frame: borrowing Frame) throws(RunFailure) {
    let upright = ImageBuffer(width: plan.size.width, height: plan.size.height)
    try converter.draw(frame, into: upright.imagePlanes)
    let small = plan.size.fitted(longEdge: ThumbHash.maxEdge)
    let hash = ThumbHash(try image(of: upright.imagePlanes, size: small).image).base64
    let jpeg = try encode(image(of: upright.imagePlanes, size: plan.size))
    do {
      try file.descriptor.write(jpeg, at: 0)
    } catch {
      throw RunFailure(error)
    }
    facts = OutputFacts(
      role: plan.role, type: "image/jpeg", bytes: Int64(jpeg.count), width: plan.size.width, height: plan.size.height,
      thumbhash: hash)
  }

  private func encode(_ image: PlanarImage) throws(RunFailure) -> [UInt8] {
    do {
      return try JPEGEncoder(quality: plan.quality).encode(image)
    } catch {
      throw .failed(MediaError(.library, "\(error)"))
    }
  }

  private func image(of upright: MutableImagePlanes, size: Size) throws(RunFailure) -> PlanarImage {
    let image = PlanarImage(width: size.width, height: size.height, halvesChroma: true)
    let source = Scaler.Side(
      width: upright.width, height: upright.height, format: .yuv420p, matrix: .bt709, isFullRange: false,
      chroma: converter.chroma)
    // The colours of JFIF 1.02, with chroma in the middle of four samples.
    let target = Scaler.Side(
      width: size.width, height: size.height, format: .yuv420p, matrix: .bt601, isFullRange: true, chroma: .centre)
    let planes = MutableImagePlanes(y: image.plane(0), u: image.plane(1), v: image.plane(2)).planes
    try RunFailure.wrap { () throws(AVError) in try Scaler(from: source, to: target).scale(upright.planes, to: planes) }
    return image
  }
}

/// Takes the frame of a still from an input: the frame that is shown at the still's time, or else the last one.
final class StillTap: FrameTap {
  let writer: StillWriter

  init(_ writer: StillWriter) { self.writer = writer }

  var isFinished: Bool { writer.facts != nil }

  func take(_ frame: borrowing Frame, until end: Double?) throws(RunFailure) {
    if let end, writer.plan.at >= end { return }
    try writer.write(frame)
  }
}
