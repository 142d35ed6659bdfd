import AV
import Model

/// When an input's pictures are shown, read from its packets without decoding one.
///
/// It costs a few milliseconds and settles before any decoding what would waste it: a clip too long, too short or
/// unlike the other, and which time is the start. Decoding then has to deliver a picture for each of these times.
struct PacketScan: Sendable {
  /// When each picture is shown, in ticks and in order; what an edit list hides is left out.
  let times: [Int64]
  let timeBase: Rational
  /// How long the last picture is shown, in ticks.
  let lastDuration: Int64
  /// Whether there is more than was looked at.
  let isCut: Bool
  /// Why the frames cannot be copied into another file as they are; nil where they can.
  let copyObstacle: String?

  /// The time that counts as zero for all streams of the file.
  var origin: Int64 { times.first ?? 0 }

  /// From the first picture's beginning to the last one's end, in seconds.
  var seconds: Double {
    guard let first = times.first, let last = times.last else { return 0 }
    return timeBase.seconds(last - first + lastDuration)
  }

  /// Pictures a second on average.
  var framesPerSecond: Double { seconds > 0 ? Double(times.count) / seconds : 0 }

  /// Reads the packets of the video stream.
  ///
  /// - Parameter allowed: how long a clip may be; what lies well behind it is not looked at.
  init(of source: InputSource, video: VideoFacts, allowed: ClosedSeconds) throws(Stop) {
    let stream = video.stream
    let most = Int((allowed.longest + 1) * source.limits.framesPerSecond) + 1
    let demuxer = try source.open()
    guard demuxer.streams.indices.contains(stream) else {
      throw source.refusal(.noVideoStream, "stream \(stream) is not there")
    }
    demuxer.select([stream])
    let packet = try Stop.wrap { () throws(AVError) in try Packet() }
    let timeBase = demuxer.streams[stream].timeBase
    var times: [(start: Int64, duration: Int64)] = []
    times.reserveCapacity(512)
    var isCut = false
    var packets = 0
    var check = CopyCheck(demuxer.streams[stream])
    while try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      guard packet.stream == stream else { continue }
      packets += 1
      check.take(packet)
      guard !packet.isDiscarded, let time = packet.pts ?? packet.dts, !video.isHeld(at: timeBase.seconds(time)) else {
        continue
      }
      times.append((time, packet.duration))
      if times.count > most || timeBase.seconds(time - times[0].start) > allowed.longest + 1 {
        isCut = true
        break
      }
    }
    // A demuxer takes a packet behind the end of the file for the end of the stream.
    let promised = demuxer.indexedPackets(of: stream)
    if !isCut && packets < promised {
      throw source.refusal(
        .truncatedContainer, "\(promised - packets) of its \(promised) pictures lie behind the end of the file")
    }
    times.sort { $0.start < $1.start }
    self.times = times.map(\.start)
    self.timeBase = timeBase
    self.isCut = isCut
    let duration = Self.lastDuration(of: times)
    let held = Self.heldDuration(of: times, until: video.editEnd, timeBase)
    // Less than half a frame is how lengths are rounded.
    let isHeld = held > duration + duration / 2
    lastDuration = isHeld ? held : duration
    copyObstacle = check.obstacle ?? (isHeld || video.dwells != nil ? "its edit list holds a frame" : nil)
  }

  // Where the container does not say it, the last picture is shown as long as the others on average.
  private static func lastDuration(of times: [(start: Int64, duration: Int64)]) -> Int64 {
    guard let first = times.first, let last = times.last else { return 0 }
    if last.duration > 0 { return last.duration }
    return times.count > 1 ? (last.start - first.start) / Int64(times.count - 1) : 0
  }

  // A day: what says more is damaged.
  private static let maxHeldSeconds = 86_400.0

  // An edit that goes on behind the media shows the last frame until its end.
  private static func heldDuration(
    of times: [(start: Int64, duration: Int64)], until end: Double?, _ timeBase: Rational
  ) -> Int64 {
    guard let end, (0...maxHeldSeconds).contains(end), let last = times.last else { return 0 }
    return timeBase.rescale(Int64(end * 1e6), from: Rational(1, 1_000_000)) - last.start
  }
}
