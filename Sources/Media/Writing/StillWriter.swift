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
    let hash = try withRGB(upright.imagePlanes, size: small) { (view) throws(RunFailure) in ThumbHash(view).base64 }
    let jpeg = try withRGB(upright.imagePlanes, size: plan.size) { (view) throws(RunFailure) in try encode(view) }
    do {
      try file.descriptor.write(jpeg, at: 0)
    } catch {
      throw RunFailure(error)
    }
    facts = OutputFacts(
      role: plan.role, type: "image/jpeg", bytes: Int64(jpeg.count), width: plan.size.width, height: plan.size.height,
      thumbhash: hash)
  }

  private func encode(_ view: RGBView) throws(RunFailure) -> [UInt8] {
    do {
      return try JPEGEncoder(quality: plan.quality).encode(view)
    } catch {
      throw .failed(MediaError(.library, "\(error)"))
    }
  }

  private func withRGB<Result>(
    _ image: MutableImagePlanes, size: Size, use: (RGBView) throws(RunFailure) -> Result
  ) throws(RunFailure) -> Result {
    let stride = AlignedBuffer.aligned(3 * size.width)
    let memory = AlignedBuffer(count: stride * size.height + AlignedBuffer.alignment)
    let source = Scaler.Side(
      width: image.width, height: image.height, format: .yuv420p, matrix: .bt709, isFullRange: false,
      chroma: converter.chroma)
    let target = Scaler.Side(
      width: size.width, height: size.height, format: .rgb24, matrix: .bt709, isFullRange: true)
    do {
      let scaler = try Scaler(from: source, to: target)
      try scaler.scale(image.planes, to: Scaler.Planes(memory.base, stride: stride))
    } catch {
      throw RunFailure(error)
    }
    return try use(RGBView(base: memory.base, stride: stride, width: size.width, height: size.height))
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
