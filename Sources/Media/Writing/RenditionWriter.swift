import AV
import Kernels
import Model
import Platform

/// Writes composed frames in a smaller size, as a video of its own.
///
/// In the latency mode another thread encodes: that of the composition is the bottleneck.
final class RenditionWriter {
  let plan: RenditionPlan
  /// The file, which also has the sound of the composition; the owner starts it.
  let container: ContainerWriter
  private let scaling: Scaling
  private let encoding: Encoding

  private enum Scaling {
    /// The mean of four pixels.
    case half
    case converter(UprightConverter)
  }

  private enum Encoding: ~Copyable {
    case here(VideoTrack, Frame)
    case ahead(EncodeAhead)
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
      case .throughput:
        .here(
          try VideoTrack(plan.video, size: target, grid: grid, container: container),
          try RunFailure.wrap { () throws(AVError) in
            try Frame(width: target.width, height: target.height, format: .yuv420p)
          })
      case .latency: .ahead(try EncodeAhead(plan.video, size: target, grid: grid, container: container))
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
    switch encoding {
    case .here(let video, let memory):
      try draw(frame, into: memory)
      try video.encode(memory)
    case .ahead(let video):
      let memory = try video.memory()
      try draw(frame, into: memory)
      try video.encode(memory)
    }
  }

  /// Completes the file.
  func finish(seconds: Double) throws(RunFailure) -> OutputFacts {
    switch encoding {
    case .here(let video, _): try video.finish()
    case .ahead(let video): try video.finish()
    }
    return try container.finish(size: plan.size, seconds: seconds)
  }

  private func draw(_ frame: borrowing Frame, into memory: borrowing Frame) throws(RunFailure) {
    switch scaling {
    case .half: memory.imagePlanes.copy(halvingVideo: frame.imagePlanes.reading)
    case .converter(let converter): try converter.draw(frame, into: memory.imagePlanes)
    }
  }
}
