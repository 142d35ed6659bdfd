import AV
import Kernels
import Model

/// Deinterlaces the interlaced frames of a clip; progressive frames pass unchanged.
///
/// The frame rate stays: the first field of each frame is kept and the other one is interpolated. It runs one frame
/// behind its decoder, as motion is detected from the next frame.
final class Deinterlacer: FrameSource {
  private let source: any FrameSource
  private var previous: Frame
  private var current: Frame
  private var following: Frame
  private var currentTicks: Int64?
  private var followingTicks: Int64?
  private var isStarted = false

  init(_ source: any FrameSource) throws(RunFailure) {
    self.source = source
    previous = try RunFailure.wrap { () throws(AVError) in try Frame() }
    current = try RunFailure.wrap { () throws(AVError) in try Frame() }
    following = try RunFailure.wrap { () throws(AVError) in try Frame() }
  }

  var demuxer: Demuxer { _read { yield source.demuxer } }

  var misplaced: Int { source.misplaced }

  func next(
    into frame: borrowing Frame, packets: (borrowing Packet) throws(RunFailure) -> Void
  ) throws(RunFailure) -> Int64? {
    if isStarted {
      // The oldest frame is the memory of the next one.
      swap(&previous, &current)
      swap(&current, &following)
      currentTicks = followingTicks
    } else {
      currentTicks = try source.next(into: current, packets: packets)
      isStarted = true
    }
    guard let currentTicks else { return nil }
    followingTicks = try source.next(into: following, packets: packets)
    do throws(AVError) {
      if current.isInterlaced { try draw(into: frame) } else { try frame.reference(current) }
    } catch {
      throw RunFailure(error)
    }
    return currentTicks
  }

  // A frame is drawn with the one before it: none is left out.
  func skip(to refresh: Int64, packets: (borrowing Packet) throws(RunFailure) -> Void) throws(RunFailure) {}

  func passRest(
    _ packets: (borrowing Packet) throws(RunFailure) -> Void, until isFinished: () -> Bool
  ) throws(RunFailure) {
    try source.passRest(packets, until: isFinished)
  }

  private func draw(into frame: borrowing Frame) throws(AVError) {
    let drawn = try Frame(width: current.width, height: current.height, format: current.format)
    try drawn.copyProperties(of: current)
    for index in 0..<3 {
      guard let now = current.plane(index), let target = drawn.plane(index) else { continue }
      let isChroma = index > 0
      let before = previous.plane(index)
      let after = followingTicks == nil ? nil : following.plane(index)
      // At either end of a clip its one neighbour replaces the missing one; without any there is no motion.
      Deinterlacing.draw(
        previous: Deinterlacing.Rows(before ?? after ?? now), current: Deinterlacing.Rows(now),
        next: Deinterlacing.Rows(after ?? before ?? now), into: Deinterlacing.Rows(target),
        width: isChroma ? (current.width + 1) / 2 : current.width,
        height: isChroma ? (current.height + 1) / 2 : current.height, keepsLower: !current.isTopFieldFirst,
        isWide: current.format.bitDepth > 8)
    }
    frame.take(drawn)
  }
}

extension FrameDecoder {
  /// A source of the same frames, deinterlaced if the clip is interlaced.
  func deinterlaced() throws(RunFailure) -> any FrameSource { isInterlaced ? try Deinterlacer(self) : self }
}
