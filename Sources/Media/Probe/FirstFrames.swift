import AV
import ISOBaseMedia
import Model

/// The facts that only decoding shows: pixel format, profile, sample rate and channels.
struct FirstFrames {
  var video: VideoFacts
  private(set) var audio: AudioFacts?

  // Enough to reach the first audio after the first frame in any interleaving that phones write.
  private static let maxAudioPackets = 512
  private static let maxAudioStreams = 4
  // More than thirty seconds, each frame in two packets.
  private static let maxWatchedPackets = 2048

  /// Decodes the first video frame, and the first audio frame of the first audio stream that has one.
  init(
    _ source: InputSource, demuxer: borrowing Demuxer, video stream: StreamInfo, tracks: [TrackMetadata],
    audioStreams: [StreamInfo]
  ) throws(RunFailure) {
    let track = { (stream: StreamInfo) in tracks.first { $0.number == stream.number } }
    var candidates: [FirstAudio] = []
    for audioStream in audioStreams.prefix(Self.maxAudioStreams) {
      if let candidate = FirstAudio(audioStream, track: track(audioStream), of: demuxer, source) {
        candidates.append(candidate)
      }
    }
    demuxer.select(Set([stream.index] + candidates.map(\.stream.index)))
    let firstFrame = try FirstFrame(stream, track: track(stream), of: demuxer, source)
    let packet = try RunFailure.wrap { () throws(AVError) in try Packet() }
    var facts: VideoFacts?
    var packets = 0
    var budget = Self.maxAudioPackets
    while facts == nil || (budget > 0 && candidates.contains { $0.facts == nil })
      || (firstFrame.awaitsFields && packets < Self.maxWatchedPackets)
    {
      guard try source.read(demuxer, into: packet) else {
        if facts == nil {
          facts = try firstFrame.finish()
        } else if firstFrame.awaitsFields, firstFrame.findsFieldsAtEnd() {
          facts?.isInterlaced = true
        }
        break
      }
      defer { packet.unreference() }
      if packet.stream == stream.index {
        if facts == nil {
          packets += 1
          guard packets <= PacketScan.maxHidden else { throw source.tooManyHidden }
          facts = try firstFrame.take(packet)
        } else if firstFrame.awaitsFields {
          packets += 1
          if firstFrame.findsFields(in: packet) { facts?.isInterlaced = true }
        }
      } else if budget > 0 {
        for candidate in candidates { candidate.take(packet) }
      }
      if facts != nil { budget -= 1 }
    }
    guard let facts else { throw source.refusal(.corruptVideo, "none of its frames can be decoded", seconds: 0) }
    video = facts
    audio = candidates.lazy.compactMap(\.facts).first
  }
}

/// Decodes one audio stream up to its first samples.
final class FirstAudio {
  let stream: StreamInfo
  /// Nil until samples are decoded.
  private(set) var facts: AudioFacts?
  private let decoder: Decoder
  private let frame: Frame
  private let track: TrackMetadata?

  /// Nil for a stream that cannot be decoded: another one may be used.
  init?(_ stream: StreamInfo, track: TrackMetadata?, of demuxer: borrowing Demuxer, _ source: InputSource) {
    guard
      let decoder = try? Decoder(
        stream: stream.index, of: demuxer, limits: source.decoderLimits(source.audioCodecs)),
      let frame = try? Frame()
    else { return nil }
    self.stream = stream
    self.decoder = decoder
    self.frame = frame
    self.track = track
  }

  func take(_ packet: borrowing Packet) {
    guard facts == nil, packet.stream == stream.index, (try? decoder.send(packet)) != nil,
      (try? decoder.receive(into: frame)) == .output, frame.isResamplable
    else { return }
    facts = AudioFacts(
      stream: stream.index, codec: stream.codec, profile: decoder.profile, sampleRate: frame.sampleRate,
      channels: frame.channels, copyObstacle: copyObstacle)
  }

  private var copyObstacle: String? {
    if stream.configuration.isEmpty { return "its configuration stands among its packets" }
    // An output counts in samples: in another time base, packets of one sample or less would coincide.
    guard stream.timeBase == Rational(1, Int32(frame.sampleRate)) else { return "its timestamps do not count samples" }
    return track?.isShownOnce ?? true ? nil : "its edit list shows parts of it, or one part twice"
  }
}
