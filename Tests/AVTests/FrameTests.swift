import AV
import Testing

@Suite("Frames")
struct FrameTests {
  @Test(
    "only the channels of a frame have samples", arguments: [(-1, false), (0, true), (1, true), (2, false)])
  func channels(channel: Int, exists: Bool) throws {
    let frame = try Frame(sampleCapacity: 64, sampleRate: 48_000, channels: 2)
    let count = frame.samples(ofChannel: channel)?.count
    #expect(count == (exists ? 64 : nil))
  }

  @Test("a number of channels that is not positive is an error", arguments: [-1, 0])
  func noChannels(count: Int) {
    #expect(throws: AVError.self) { _ = try Frame(sampleCapacity: 64, sampleRate: 48_000, channels: count) }
  }

  @Test("a frame that takes the content of another one has its pixels, without a copy")
  func take() throws {
    let frame = try Frame()
    let other = try Frame(width: 64, height: 32, format: .yuv420p)
    other.pts = 7
    let base = other.plane(0)?.base
    frame.take(other)
    let taken = (size: [frame.width, frame.height], pts: frame.pts, base: frame.plane(0)?.base)
    #expect(taken.size == [64, 32] && taken.pts == 7)
    #expect(base != nil && taken.base == base)
  }

  @Test("a position turns as often either way", arguments: -8...8)
  func turns(quarters: Int) {
    let position = ChromaPosition(x: 0, y: 128)
    let clockwise = [
      position, ChromaPosition(x: 128, y: 0), ChromaPosition(x: 256, y: 128), ChromaPosition(x: 128, y: 256),
    ]
    #expect(position.turned(quarterTurns: quarters, mirroring: false) == clockwise[(quarters + 8) % 4])
  }
}
