import AV
import Definitions
import Kernels
import MediaFixtures
import Model
import Platform
import Testing

@testable import Media

@Suite("The times of decoding of an encoded video")
struct DecodingTimesTests {
  /// The ticks of frames at a constant rate, of a slow start, of a slow end and of a pause, with a frame at each of the last two ticks.
  static let kinds: [String: [Int]] = [
    "one frame": [0], "two frames": [0, 1], "every tick": Array(0..<60),
    "slow at first": Array(stride(from: 0, to: 30, by: 6)) + Array(30..<60),
    "slow at last": Array(0..<30) + Array(stride(from: 30, to: 58, by: 6)) + [58, 59],
    "a pause behind the first frame": [0] + Array(40..<60), "one that is late": [0, 2, 3, 4, 5] + Array(6..<60),
    "slow": Array(stride(from: 0, to: 58, by: 5)) + [58, 59],
  ]

  /// The times of x264 (encoder.c, x264_encoder_encode), in the order of coding.
  private static func x264(_ ticks: [Int64], reordered: Int) -> [Int64] {
    let delay = ticks.count > reordered ? ticks[reordered] - ticks[0] : 0
    return ticks.indices.map { $0 < reordered ? ticks[$0] - delay : ticks[$0 - reordered] }
  }

  @Test(
    "are x264's, but for the first ones, which precede the first frame by a tick for each that is reordered",
    arguments: kinds.keys.sorted(), 0...2)
  func kind(name: String, reordered: Int) throws {
    let ticks = try #require(Self.kinds[name]).map(Int64.init)
    let given = Self.x264(ticks, reordered: reordered)
    var times = DecodingTimes()
    var found: [Int64] = []
    // x264 has some frames ahead, and as many as it reorders at least.
    for (index, tick) in ticks.enumerated() {
      times.add(tick)
      if index >= reordered { found.append(times.next(given[index - reordered])) }
    }
    for index in found.count..<ticks.count { found.append(times.next(given[index])) }
    #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 }, "\(found)")
    #expect(found.dropFirst(reordered) == given.dropFirst(reordered))
    if ticks.count > reordered {
      let first = (0..<reordered).map { Int64($0 - reordered) }
      #expect(Array(found.prefix(reordered)) == first, "\(found)")
    }
    if name == "every tick" { #expect(found == given) }
  }

  @Test(
    "last no longer than the video, whatever it reorders", .tags(.media), arguments: kinds.keys.sorted(), [0, 1, 3])
  func encoded(name: String, bFrames: Int) throws {
    let ticks = try #require(Self.kinds[name])
    var video = try #require(try Definitions.take5Post().outputs[.composed]?.composed?.video)
    video.x264["bframes"] = bFrames
    let size = Size(width: 64, height: 64)
    let file = try TemporaryFile.make()
    let container = try ContainerWriter(.composed, file: file)
    let track = try VideoTrack(video, size: size, grid: TimeGrid(rate: 30), container: container)
    try container.start()
    let frame = try Frame(width: size.width, height: size.height, format: .yuv420p)
    for tick in ticks {
      try frame.makeWritable()
      frame.imagePlanes.fill(y: UInt8(16 + 3 * tick), u: 128, v: 128)
      try track.encode(frame, at: tick)
    }
    try track.finish()
    let seconds = Double(try #require(ticks.last) + 1) / 30
    _ = try container.finish(size: size, seconds: seconds)
    let packets = try Self.packets(of: file)
    #expect(packets.shown.map { Int(($0 * 30).rounded()) } == ticks)
    #expect(packets.seconds < seconds + 0.001, "it is decoded for \(packets.seconds) s of \(seconds)")
    // Up to one frame is reordered in the built-in definitions; then the last two ticks make the sums equal.
    if bFrames <= 1, ticks.count > 1 { #expect(packets.seconds > seconds - 0.001) }
  }

  /// The sum of the sample durations of the video of a file, and the times at which its frames are shown, ascending.
  static func packets(of file: OpenFile) throws -> (seconds: Double, shown: [Double]) {
    let demuxer = try Demuxer(
      reading: file, limits: DemuxerLimits(streams: 2, codecs: ["h264", "aac"]), interrupt: Interrupt())
    let stream = try #require(demuxer.streams.first { $0.kind == .video })
    demuxer.select([stream.index])
    let packet = try Packet()
    var (shown, first, end): ([Int64], Int64?, Int64) = ([], nil, 0)
    while try demuxer.read(into: packet) {
      guard packet.stream == stream.index, let time = packet.dts, let pts = packet.pts else { continue }
      first = first ?? time
      end = time + packet.duration
      shown.append(pts)
    }
    return (
      stream.timeBase.seconds(end - (first ?? 0)), shown.sorted().map { stream.timeBase.seconds($0) }
    )
  }
}
