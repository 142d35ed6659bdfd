import AV
import ISOBaseMedia
import Model
import Platform

/// One input with the limits under which its readers open it, and the reasons for which they refuse it.
struct InputSource: Sendable {
  let name: InputName
  let file: OpenFile
  let limits: Limits
  let interrupt: Interrupt
  var format = Demuxer.Format.isoBaseMedia

  /// The codecs that may be opened: the definition's, as far as the program allows them.
  var videoCodecs: [String] { limits.videoCodecs.filter(AllowedCodecs.video.contains) }
  var audioCodecs: [String] {
    let allowed = AllowedCodecs.audio + AllowedCodecs.namedAudio
    return (limits.audioCodecs ?? AllowedCodecs.audio).filter(allowed.contains)
  }

  /// Opens the container.
  func open() throws(RunFailure) -> Demuxer {
    do {
      return try Demuxer(
        reading: file, as: format, limits: DemuxerLimits(streams: limits.streams, codecs: videoCodecs + audioCodecs),
        interrupt: interrupt)
    } catch {
      throw failure(demuxing: error, .unsupportedContainer, "its index cannot be read", readFailed: false)
    }
  }

  /// Opens the container and selects the streams that a plan reads.
  func open(selecting plan: InputPlan) throws(RunFailure) -> Demuxer {
    let stream = plan.facts.video.stream
    let demuxer = try open()
    guard demuxer.streams.indices.contains(stream) else {
      throw refusal(.noVideoStream, "stream \(stream) is missing")
    }
    demuxer.select(Set([stream, plan.readsAudio ? plan.facts.audio?.stream : nil].compactMap { $0 }))
    return demuxer
  }

  func decoderLimits(_ codecs: [String]) -> DecoderLimits { DecoderLimits(codecs: codecs, pixels: limits.pixels) }

  /// Reads the next packet and refuses timestamps so large that their sums and differences do not fit in 64 bits.
  func read(_ demuxer: borrowing Demuxer, into packet: borrowing Packet) throws(RunFailure) -> Bool {
    let isRead: Bool
    do {
      isRead = try demuxer.read(into: packet)
    } catch {
      throw failure(demuxing: error, .corruptVideo, "its next packet cannot be read", readFailed: demuxer.readFailed)
    }
    guard isRead, demuxer.streams.indices.contains(packet.stream) else { return isRead }
    // The tables of a track are checked before; this concerns fragments, which the demuxer indexes as it reads them.
    guard demuxer.indexedPackets(of: packet.stream) <= TrackTable.maxSamples else {
      throw refusal(.corruptVideo, "one of its streams has more than \(TrackTable.maxSamples) packets")
    }
    let timeBase = demuxer.streams[packet.stream].timeBase
    for ticks in [packet.pts, packet.dts, packet.duration].compactMap({ $0 }) {
      guard ticks.magnitude <= Self.maxTicks, timeBase.seconds(ticks).magnitude <= Self.maxSeconds else {
        throw refusal(.corruptVideo, "the timestamps of its packets are out of range")
      }
    }
    return isRead
  }

  private static let maxTicks: UInt64 = 1 << 60
  // 68 years: some streams count from 1970.
  private static let maxSeconds = Double(Int32.max)

  // An index needs little memory: an index that needs more than the limit is damaged, so this includes out of memory.
  private func failure(demuxing error: AVError, _ code: ReasonCode, _ finding: String, readFailed: Bool) -> RunFailure {
    if error.isInterruption || readFailed { return RunFailure(error) }
    return refusal(code, "\(finding) (\(error))")
  }

  /// A failure of the run if the system caused the error, else a refusal of the input.
  func failure(for error: AVError, _ code: ReasonCode, _ finding: String, at seconds: Double? = nil) -> RunFailure {
    if error.isInterruption || error.isOutOfMemory { return RunFailure(error) }
    return .refused(Reason(code, input: name, finding: "\(finding) (\(error))", seconds: seconds))
  }

  /// The refusal of an input with more hidden frames than `PacketScan.maxHidden`.
  var tooManyHidden: RunFailure {
    refusal(.durationOutOfRange, "more than \(PacketScan.maxHidden) of its frames are not shown")
  }

  /// A refusal of the input.
  func refusal(_ code: ReasonCode, _ finding: String, seconds: Double? = nil) -> RunFailure {
    .refused(Reason(code, input: name, finding: finding, seconds: seconds))
  }
}

/// Compares the bytes of two files.
enum FileComparison {
  private static let blockBytes = 256 << 10

  /// Whether two files hold the same bytes; reads them only if their sizes are equal, and up to their first difference.
  static func areEqual(_ one: OpenFile, _ other: OpenFile) throws(SystemError) -> Bool {
    let size = try one.descriptor.size()
    guard try other.descriptor.size() == size else { return false }
    var blocks = ([UInt8](repeating: 0, count: blockBytes), [UInt8](repeating: 0, count: blockBytes))
    var offset: Int64 = 0
    while offset < size {
      let count = min(Int(size - offset), blockBytes)
      try read(one, into: &blocks.0, count: count, at: offset)
      try read(other, into: &blocks.1, count: count, at: offset)
      if blocks.0[..<count] != blocks.1[..<count] { return false }
      offset += Int64(count)
    }
    return true
  }

  private static func read(
    _ file: OpenFile, into block: inout [UInt8], count: Int, at offset: Int64
  ) throws(SystemError) {
    var filled = 0
    while filled < count {
      let result = block.withUnsafeMutableBytes { bytes in
        Result { () throws(SystemError) in
          try file.descriptor.read(
            into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<count]), at: offset + Int64(filled))
        }
      }
      let read = try result.get()
      if read == 0 { throw SystemError(call: "pread", code: 5) }
      filled += read
    }
  }
}

extension Demuxer.Format {
  /// The demuxer of a container.
  init(_ container: ContainerName) { self = container == .webM ? .webM : .isoBaseMedia }
}
