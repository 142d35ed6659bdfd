import AV
import Model

/// Samples some frames of a clip, and some pixels of each, to detect clips that are black or do not move.
final class FrameMonitor: FrameTap {
  let isFinished = false
  private let input: InputName
  private let black: Int
  private let shift: Int
  private var count = 0
  private var last: [UInt16] = []
  private var sampledFrames = 0
  private var blackFrames = 0
  private var hasMotion = false

  // The distances between sampled frames, rows and columns.
  private static let frameStep = 8
  private static let rowStep = 16
  private static let columnStep = 8
  // The mean difference up to which two frames count as equal: coding alone causes that much.
  private static let maxStillDifference = 0.1

  init(_ layout: FrameLayout, of input: InputName) {
    self.input = input
    shift = layout.format.bitDepth - 8
    black = layout.isFullRange ? 16 : 30
  }

  func take(_ frame: borrowing Frame, until end: Double?) throws(RunFailure) {
    defer { count += 1 }
    guard count % Self.frameStep == 0, let plane = frame.plane(0) else { return }
    let samples = samples(of: plane, width: frame.width, height: frame.height)
    sampledFrames += 1
    let bright = samples.count { Int($0 >> shift) > black }
    if bright * 100 <= samples.count { blackFrames += 1 }
    if !last.isEmpty {
      let difference = zip(samples, last).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
      if Double(difference >> shift) > Self.maxStillDifference * Double(samples.count) { hasMotion = true }
    }
    last = samples
  }

  /// The warnings about the frames of the clip.
  var warnings: [Warning] {
    guard sampledFrames > 1 else { return [] }
    if blackFrames == sampledFrames {
      return [Warning(.blackVideo, input: input, finding: "all of its frames are black")]
    }
    return hasMotion ? [] : [Warning(.frozenVideo, input: input, finding: "nothing moves in its frames")]
  }

  private func samples(of plane: (base: UnsafeMutableRawPointer, stride: Int), width: Int, height: Int) -> [UInt16] {
    var samples: [UInt16] = []
    samples.reserveCapacity((height / Self.rowStep + 1) * (width / Self.columnStep + 1))
    for y in stride(from: 0, to: height, by: Self.rowStep) {
      let row = plane.base + y * plane.stride
      for x in stride(from: 0, to: width, by: Self.columnStep) {
        samples.append(
          shift == 0
            ? UInt16(row.load(fromByteOffset: x, as: UInt8.self)) : row.load(fromByteOffset: 2 * x, as: UInt16.self))
      }
    }
    return samples
  }
}
