import AV
import ISOBaseMedia
import Model

/// The timestamps of an input's frames, read from its packets without decoding.
///
/// The scan takes a few milliseconds. It finds the start of the clip, and clips of a wrong duration before they are
/// decoded. Decoding must then return a frame for each of these timestamps.
struct PacketScan: Sendable {
  /// The timestamps of the frames, in ticks, ascending, without those that an edit list hides.
  private(set) var times: [Int64]
  /// The timestamps of the frames at which decoding can begin, in ticks, ascending.
  private(set) var refreshes: [Int64]
  let timeBase: Rational
  /// The duration of the last frame, in ticks.
  private(set) var lastDuration: Int64
  /// The end of the part to which the scan is cut, in ticks; nil: the scan has the whole clip.
  private(set) var end: Int64?
  /// Whether the stream has packets beyond those that were read.
  let hasMorePackets: Bool
  /// The packets that a copy of the used part has; nil if it cannot be cut without others.
  let copied: CopiedPart?
  /// The reason why the coded frames cannot be copied; nil if they can be.
  let copyObstacle: String?
  /// What a copy of the used part asks of a decoder; nil if it is not H.264, or if its parameter sets cannot be read.
  let demand: DecoderDemand?

  /// The time that counts as zero for all streams of the file.
  var origin: Int64 { times.first ?? 0 }

  /// The time from the start of the first frame to the end of the last one, in seconds.
  var seconds: Double {
    guard let first = times.first, let last = times.last else { return 0 }
    return timeBase.seconds(last - first + lastDuration)
  }

  /// Whether more than a number of frames belong between two times.
  func hasTimes(_ count: Int, after start: Int64, before end: Int64) -> Bool {
    let index = firstIndex { $0 > start } + count
    return index < times.count && times[index] < end
  }

  /// The number of frames from a time on.
  func count(from start: Int64) -> Int { times.count - firstIndex { $0 >= start } }

  private func firstIndex(where isLater: (Int64) -> Bool) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if isLater(times[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The times of the frames, in seconds from the first one.
  var frameSeconds: [Double] { times.map { timeBase.seconds($0 - origin) } }

  /// The average frame rate, by which the work is limited.
  var framesPerSecond: Double { seconds > 0 ? Double(times.count) / seconds : 0 }

  /// The last frame up to a time, in seconds from the start of the clip, at which decoding can begin; nil: there is none.
  func refresh(before seconds: Double) -> Int64? { refreshes.last { timeBase.seconds($0 - origin) <= seconds } }

  /// The scan of the first seconds; of the whole clip if it does not last longer, but for rounding.
  func first(_ seconds: Double) -> PacketScan {
    guard self.seconds > seconds + DurationRule.tolerance else { return self }
    let end = origin + timeBase.rescale(Int64(seconds * 1e6), from: Rational(1, 1_000_000))
    var part = self
    part.end = end
    part.times = Array(times.prefix { $0 < end })
    part.refreshes = Array(refreshes.prefix { $0 < end })
    part.lastDuration = end - (part.times.last ?? end)
    return part
  }

  /// Reads the packets of the video stream.
  ///
  /// - Parameter allowedDuration: the durations that a clip may have; packets far beyond the longest are not read.
  init(of source: InputSource, video: VideoFacts, allowedDuration: SecondsRange) throws(RunFailure) {
    let stream = video.stream
    let maxFrames = Int((allowedDuration.longest + 1) * source.limits.framesPerSecond) + 1
    let demuxer = try source.open()
    guard demuxer.streams.indices.contains(stream) else {
      throw source.refusal(.noVideoStream, "stream \(stream) is missing")
    }
    demuxer.select([stream])
    let packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
    let timeBase = demuxer.streams[stream].timeBase
    var times: [(start: Int64, duration: Int64)] = []
    times.reserveCapacity(512)
    var sizes: [Int] = []
    var refreshes: [Int64] = []
    let configuration =
      video.codec == "h264" ? AVCConfiguration(demuxer.streams[stream].configuration) : nil
    var hasMorePackets = false
    var packets = 0
    var hidden = 0
    var check = CopyCheck(stream: stream, of: demuxer)
    while try source.read(demuxer, into: packet) {
      defer { packet.unreference() }
      guard packet.stream == stream else { continue }
      packets += 1
      check.take(packet)
      guard !packet.isDiscarded, !(video.codec == "vp8" && packet.isHiddenVP8), let time = packet.pts ?? packet.dts,
        !video.isRepeated(at: timeBase.seconds(time))
      else {
        hidden += 1
        guard hidden <= Self.maxHidden else { throw source.tooManyHidden }
        continue
      }
      times.append((time, packet.duration))
      sizes.append(packet.size)
      // The flag of H.264 in a container can be wrong.
      if packet.isKey, configuration.map({ AVCSample(packet, $0).isRefresh }) ?? true { refreshes.append(time) }
      if times.count > maxFrames || timeBase.seconds(time - times[0].start) > allowedDuration.longest + 1 {
        hasMorePackets = true
        break
      }
    }
    // FFmpeg's demuxer returns the end of the stream for a packet beyond the end of the file. The index of a WebM has only some packets.
    let indexed = demuxer.indexedPackets(of: stream)
    if !hasMorePackets && source.format == .isoBaseMedia && packets < indexed {
      throw .refused(.missingFrames(indexed - packets, of: indexed, input: source.name))
    }
    let starts = times.map(\.start)
    times.sort { $0.start < $1.start }
    self.times = times.map(\.start)
    self.refreshes = refreshes.sorted()
    self.timeBase = timeBase
    self.hasMorePackets = hasMorePackets
    let duration = Self.lastDuration(of: times)
    let held = Self.heldDuration(of: times, until: video.editEnd, timeBase)
    // A difference of less than half a frame is rounding.
    let isHeld = held > duration + duration / 2
    lastDuration = isHeld ? held : duration
    let whole = timeBase.seconds((times.last?.start ?? 0) - (times.first?.start ?? 0) + lastDuration)
    copied = CopiedPart(of: starts, lasting: whole, used: source.limits.trimSeconds, timeBase)
    check.finish(first: copied?.packets)
    let load = DecoderLoad(starts, sizes, first: copied?.packets, seconds: copied?.seconds ?? whole, timeBase)
    demand = configuration?.demand(framesPerSecond: load.framesPerSecond, bitsPerSecond: load.bitsPerSecond)
    copyObstacle =
      check.obstacle ?? (copied == nil ? "its packets cannot be cut near the end of the used part" : nil)
      ?? (isHeld || video.dwells != nil ? "its edit list holds a frame" : nil)
      ?? (demuxer.streams[stream].displayMatrix.map(Transform.isExact) ?? true
        ? nil : "its matrix turns it by no quarter")
  }

  /// The maximum number of frames that the edit list hides or repeats; each is decoded. A trimmed clip has those from its
  /// last sync frame on.
  static let maxHidden = 4096

  // If the container does not give the duration of the last frame, it is the average of the others.
  private static func lastDuration(of times: [(start: Int64, duration: Int64)]) -> Int64 {
    guard let first = times.first, let last = times.last else { return 0 }
    if last.duration > 0 { return last.duration }
    return times.count > 1 ? (last.start - first.start) / Int64(times.count - 1) : 0
  }

  // One day. A longer edit is damage.
  private static let maxHeldSeconds = 86_400.0

  // An edit that extends beyond the media holds the last frame until its end.
  private static func heldDuration(
    of times: [(start: Int64, duration: Int64)], until end: Double?, _ timeBase: Rational
  ) -> Int64 {
    guard let end, (0...maxHeldSeconds).contains(end), let last = times.last else { return 0 }
    return timeBase.rescale(Int64(end * 1e6), from: Rational(1, 1_000_000)) - last.start
  }
}

extension Packet {
  /// Whether a packet of VP8 is a frame that is not shown: others refer to it (RFC 6386, 9.1).
  fileprivate var isHiddenVP8: Bool {
    var isHidden = false
    withBytes { bytes in isHidden = bytes.first.map { $0 & 0x10 == 0 } ?? false }
    return isHidden
  }
}
