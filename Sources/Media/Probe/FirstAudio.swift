import AV
import ISOBaseMedia
import Model

/// Decodes one sound stream up to its first samples.
final class FirstAudio {
  let stream: StreamInfo
  /// Nil until samples came.
  private(set) var facts: AudioFacts?
  private let decoder: Decoder
  private let frame: Frame
  private let track: TrackMetadata?

  /// Nil for a stream that cannot be decoded: another one may serve.
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
      (try? decoder.receive(into: frame)) == .output
    else { return }
    facts = AudioFacts(
      stream: stream.index, codec: stream.codec, profile: decoder.profile, sampleRate: frame.sampleRate,
      channels: frame.channels, copyObstacle: copyObstacle)
  }

  private var copyObstacle: String? {
    if stream.configuration.isEmpty { return "its configuration stands among its packets" }
    return track?.isShownOnce ?? true ? nil : "its edit list shows parts of it, or one part twice"
  }
}
