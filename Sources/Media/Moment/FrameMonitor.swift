import AV
import Model

/// Looks at a few pictures of a clip, and at a few pixels of each: is it black, does it move?
final class FrameMonitor: FrameTap {
  let isSatisfied = false
  private let input: InputName
  private let black: Int
  private let shift: Int
  private var count = 0
  private var last: [UInt16] = []
  private var looked = 0
  private var blackPictures = 0
  private var moved = false

  // Every eighth picture, each row of sixteen, each column of eight.
  private static let pictures = 8
  private static let rows = 16
  private static let columns = 8
  // Differences of less than this on average are a codec's, not a hand's.
  private static let stillness = 0.1

  init(_ layout: FrameLayout, of input: InputName) {
    self.input = input
    shift = layout.format.bitDepth - 8
    black = layout.isFullRange ? 16 : 30
  }

  func take(_ frame: borrowing Frame, until end: Double?) throws(Stop) {
    defer { count += 1 }
    guard count % Self.pictures == 0, let plane = frame.plane(0) else { return }
    let samples = samples(of: plane, width: frame.width, height: frame.height)
    looked += 1
    let bright = samples.count { Int($0 >> shift) > black }
    if bright * 100 <= samples.count { blackPictures += 1 }
    if !last.isEmpty {
      let difference = zip(samples, last).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
      if Double(difference >> shift) > Self.stillness * Double(samples.count) { moved = true }
    }
    last = samples
  }

  /// What is odd about the clip.
  var warnings: [Warning] {
    guard looked > 1 else { return [] }
    if blackPictures == looked {
      return [
        Warning(
          .blackVideo, input: input,
          detail: "All of its pictures are black. Make sure that nothing covers the camera, and film again.")
      ]
    }
    guard !moved else { return [] }
    return [
      Warning(
        .frozenVideo, input: input,
        detail:
          "Nothing moves in its pictures. If something should, close other apps that use the camera, and film again.")
    ]
  }

  private func samples(of plane: (base: UnsafeMutableRawPointer, stride: Int), width: Int, height: Int) -> [UInt16] {
    var samples: [UInt16] = []
    samples.reserveCapacity((height / Self.rows + 1) * (width / Self.columns + 1))
    for y in stride(from: 0, to: height, by: Self.rows) {
      let row = plane.base + y * plane.stride
      for x in stride(from: 0, to: width, by: Self.columns) {
        samples.append(
          shift == 0
            ? UInt16(row.load(fromByteOffset: x, as: UInt8.self)) : row.load(fromByteOffset: 2 * x, as: UInt16.self))
      }
    }
    return samples
  }
}
