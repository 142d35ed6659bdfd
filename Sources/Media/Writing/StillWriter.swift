import AV
import Kernels
import Model
import Platform
import Stills

/// Makes one JPEG, and its ThumbHash, from a frame.
final class StillWriter {
  let plan: StillPlan
  private let file: OpenFile
  private let converter: UprightConverter
  /// What was written; nil before.
  private(set) var facts: OutputFacts?

  /// - Parameter layout: of the frames it is given.
  init(_ plan: StillPlan, layout: FrameLayout, file: OpenFile) throws(Stop) {
    self.plan = plan
    self.file = file
    converter = try UprightConverter(from: layout, to: plan.size)
  }

  /// Writes the picture of a frame.
  func write(_ frame: borrowing Frame) throws(Stop) {
    let upright = ImageBuffer(width: plan.size.width, height: plan.size.height)
    try converter.draw(frame, into: upright.picture)
    let small = plan.size.fitted(longEdge: ThumbHash.longestEdge)
    let hash = try withRGB(upright.picture, size: small) { (view) throws(Stop) in ThumbHash(view).base64 }
    let jpeg = try withRGB(upright.picture, size: plan.size) { (view) throws(Stop) in try encode(view) }
    do {
      try file.descriptor.write(jpeg, at: 0)
    } catch {
      throw Stop(error)
    }
    facts = OutputFacts(
      role: plan.role, type: "image/jpeg", bytes: Int64(jpeg.count), width: plan.size.width, height: plan.size.height,
      thumbhash: hash)
  }

  private func encode(_ view: RGBView) throws(Stop) -> [UInt8] {
    do {
      return try JPEGEncoder(quality: plan.quality).encode(view)
    } catch {
      throw .failed(MediaError(.library, "\(error)"))
    }
  }

  private func withRGB<Result>(
    _ picture: MutableImagePlanes, size: Size, use: (RGBView) throws(Stop) -> Result
  ) throws(Stop) -> Result {
    let stride = AlignedBuffer.aligned(3 * size.width)
    let memory = AlignedBuffer(count: stride * size.height + AlignedBuffer.alignment)
    let source = Scaler.Side(
      width: picture.width, height: picture.height, format: .yuv420p, matrix: .bt709, isFullRange: false)
    let target = Scaler.Side(
      width: size.width, height: size.height, format: .rgb24, matrix: .bt709, isFullRange: true)
    do {
      let scaler = try Scaler(from: source, to: target)
      try scaler.scale(picture.planes, to: Scaler.Planes(memory.base, stride: stride))
    } catch {
      throw Stop(error)
    }
    return try use(RGBView(base: memory.base, stride: stride, width: size.width, height: size.height))
  }
}
