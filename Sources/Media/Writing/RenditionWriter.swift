import AV
import Kernels
import Model
import Platform

/// Writes composed frames in a smaller size, as a video of its own.
///
/// In the latency mode another thread encodes: the thread of the composition is the bottleneck.
final class RenditionWriter {
  let plan: RenditionPlan
  /// The file, which also has the sound of the composition; the owner starts it.
  let container: ContainerWriter
  private let scaling: Scaling
  private let encoding: any RenditionEncoding

  private enum Scaling {
    /// The mean of four pixels.
    case half
    case converter(UprightConverter)
  }

  /// - Parameter canvas: the size of the composed frames.
  init(
    _ plan: RenditionPlan, of canvas: Size, grid: TimeGrid, file: OpenFile, mode: ExecutionMode
  ) throws(RunFailure) {
    self.plan = plan
    container = try ContainerWriter(plan.role, file: file)
    let target = plan.size
    scaling =
      canvas == Size(width: 2 * target.width, height: 2 * target.height)
      ? .half : .converter(try UprightConverter(from: FrameLayout(upright: canvas), to: target))
    encoding =
      switch mode {
      case .throughput: EncodeHere(try VideoTrack(plan.video, size: target, grid: grid, container: container), target)
      case .latency: try EncodeAhead(plan.video, size: target, grid: grid, container: container)
      }
  }

  /// The conversion of each frame, for the decision log.
  var summary: String {
    switch scaling {
    case .half: "halved to \(plan.size.width)x\(plan.size.height)"
    case .converter(let converter): converter.summary
    }
  }

  /// Scales and encodes the next frame.
  func write(_ frame: borrowing Frame) throws(RunFailure) {
    let memory = try encoding.memory()
    switch scaling {
    case .half: memory.imagePlanes.copy(halvingVideo: frame.imagePlanes.reading)
    case .converter(let converter): try converter.draw(frame, into: memory.imagePlanes)
    }
    try encoding.encode(memory)
  }

  /// Completes the file.
  func finish(seconds: Double) throws(RunFailure) -> OutputFacts {
    try encoding.finish()
    return try container.finish(size: plan.size, seconds: seconds)
  }
}

/// Encodes the frames of a rendition.
protocol RenditionEncoding: AnyObject {
  /// Returns memory for the next frame.
  func memory() throws(RunFailure) -> Frame

  /// Encodes the next frame.
  func encode(_ frame: consuming Frame) throws(RunFailure)

  /// Writes what is left.
  func finish() throws(RunFailure)
}

/// Encodes the frames of a rendition on the thread of the composition.
private final class EncodeHere: RenditionEncoding {
  private let video: VideoTrack
  private let size: Size
  private var unused: Frame?

  init(_ video: VideoTrack, _ size: Size) { (self.video, self.size) = (video, size) }

  func memory() throws(RunFailure) -> Frame {
    if let frame = unused.take() { return frame }
    return try RunFailure.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
  }

  func encode(_ frame: consuming Frame) throws(RunFailure) {
    try video.encode(frame)
    unused = consume frame
  }

  func finish() throws(RunFailure) { try video.finish() }
}
