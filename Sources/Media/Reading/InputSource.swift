import AV
import Model
import Platform

/// One input and how it may be opened: every reader of it obeys the same limits and blames the same input.
struct InputSource: Sendable {
  let name: InputName
  let file: OpenFile
  let limits: Limits
  let interrupt: Interrupt

  /// The codecs that may be opened: those of the definition, and none that no definition may allow.
  var videoCodecs: [String] { limits.videoCodecs.filter(AllowedCodecs.video.contains) }
  var audioCodecs: [String] { (limits.audioCodecs ?? AllowedCodecs.audio).filter(AllowedCodecs.audio.contains) }

  /// Opens the container.
  func open() throws(Stop) -> Demuxer {
    do {
      return try Demuxer(
        reading: file, limits: DemuxerLimits(streams: limits.streams, codecs: videoCodecs + audioCodecs),
        interrupt: interrupt)
    } catch {
      throw blame(indexed: error, .unsupportedContainer, "its index cannot be read", readFailed: false)
    }
  }

  /// Opens the container and selects the streams that a plan reads.
  func open(selecting plan: InputPlan) throws(Stop) -> Demuxer {
    let stream = plan.facts.video.stream
    let demuxer = try open()
    guard demuxer.streams.indices.contains(stream) else {
      throw refusal(.noVideoStream, "stream \(stream) is not there")
    }
    demuxer.select(Set([stream, plan.readsAudio ? plan.facts.audio?.stream : nil].compactMap { $0 }))
    return demuxer
  }

  func decoderLimits(_ codecs: [String]) -> DecoderLimits { DecoderLimits(codecs: codecs, pixels: limits.pixels) }

  /// Reads the next packet, whose times are near enough to zero that sums and differences of them fit in 64 bits.
  func read(_ demuxer: borrowing Demuxer, into packet: borrowing Packet) throws(Stop) -> Bool {
    let isRead: Bool
    do {
      isRead = try demuxer.read(into: packet)
    } catch {
      throw blame(indexed: error, .corruptVideo, "it cannot be read on", readFailed: demuxer.readFailed)
    }
    guard isRead, demuxer.streams.indices.contains(packet.stream) else { return isRead }
    let timeBase = demuxer.streams[packet.stream].timeBase
    for ticks in [packet.pts, packet.dts, packet.duration].compactMap({ $0 }) {
      guard ticks.magnitude <= Self.maxTicks, timeBase.seconds(ticks).magnitude <= Self.maxSeconds else {
        throw refusal(.corruptVideo, "the times of its packets cannot be right")
      }
    }
    return isRead
  }

  private static let maxTicks: UInt64 = 1 << 60
  // 68 years: some streams count their time from 1970.
  private static let maxSeconds = Double(Int32.max)

  // An index needs little memory: one that asks for more than is allowed is damaged.
  private func blame(indexed error: AVError, _ code: ReasonCode, _ what: String, readFailed: Bool) -> Stop {
    if error.isInterruption || readFailed { return Stop(error) }
    return refusal(code, "\(what) (\(error))")
  }

  /// Tells an error of the machine from one of the data.
  func blame(_ error: AVError, _ code: ReasonCode, _ what: String, at seconds: Double? = nil) -> Stop {
    if error.isInterruption || error.isOutOfMemory { return Stop(error) }
    return .refused(Reason(code, input: name, finding: "\(what) (\(error))", seconds: seconds))
  }

  /// The input is refused for this finding.
  func refusal(_ code: ReasonCode, _ finding: String, seconds: Double? = nil) -> Stop {
    .refused(Reason(code, input: name, finding: finding, seconds: seconds))
  }
}
