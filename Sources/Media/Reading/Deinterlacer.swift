import AV
import Kernels
import Model

/// Makes frames of one moment out of a clip's interlaced ones; those that are not interlaced pass as they are.
///
/// The rate stays: of each frame the field that was taken first is kept. It works one frame behind its decoder, since what
/// moves shows by the next frame.
final class Deinterlacer: FrameSource {
  private let source: any FrameSource
  private let previous: Frame
  private let current: Frame
  private let following: Frame
  private var currentTicks: Int64?
  private var followingTicks: Int64?
  private var isStarted = false

  init(_ source: any FrameSource) throws(Stop) {
    self.source = source
    previous = try Stop.wrap { () throws(AVError) in try Frame() }
    current = try Stop.wrap { () throws(AVError) in try Frame() }
    following = try Stop.wrap { () throws(AVError) in try Frame() }
  }

  var demuxer: Demuxer { _read { yield source.demuxer } }

  func next(
    into picture: borrowing Frame, packets: (borrowing Packet) throws(Stop) -> Void
  ) throws(Stop) -> Int64? {
    if isStarted {
      previous.take(current)
      current.take(following)
      currentTicks = followingTicks
    } else {
      currentTicks = try source.next(into: current, packets: packets)
      isStarted = true
    }
    guard let currentTicks else { return nil }
    followingTicks = try source.next(into: following, packets: packets)
    do throws(AVError) {
      if current.isInterlaced { try draw(into: picture) } else { try picture.reference(current) }
    } catch {
      throw Stop(error)
    }
    return currentTicks
  }

  private func draw(into picture: borrowing Frame) throws(AVError) {
    let drawn = try Frame(width: current.width, height: current.height, format: current.format)
    try drawn.describe(like: current)
    for index in 0..<3 {
      guard let now = current.plane(index), let target = drawn.plane(index) else { continue }
      let isChroma = index > 0
      let before = previous.plane(index)
      let after = followingTicks == nil ? nil : following.plane(index)
      // At both ends of a clip the one neighbour stands for the other: without any, nothing would seem to move.
      Deinterlacing.draw(
        previous: Deinterlacing.Rows(before ?? after ?? now), current: Deinterlacing.Rows(now),
        next: Deinterlacing.Rows(after ?? before ?? now), into: Deinterlacing.Rows(target),
        width: isChroma ? (current.width + 1) / 2 : current.width,
        height: isChroma ? (current.height + 1) / 2 : current.height, keepsLower: !current.isTopFieldFirst,
        isWide: current.format.bitDepth > 8)
    }
    picture.take(drawn)
  }
}

extension FrameDecoder {
  /// The same frames, each of one moment.
  func deinterlaced() throws(Stop) -> any FrameSource { isInterlaced ? try Deinterlacer(self) : self }
}
