import AV
import ISOBaseMedia
import Model

/// What the first frames of a clip say that its headers leave open: pixel format, profile, true rate and channels.
struct FirstFrames {
  var video: VideoFacts
  private(set) var audio: AudioFacts?

  // Enough to meet the first sound behind the first picture in every interleaving that phones write.
  private static let maxAudioPackets = 512
  private static let maxAudioStreams = 4

  /// Decodes the first picture and, of the first of `sounds` that gives any, the first stretch of sound.
  init(
    _ source: InputSource, demuxer: borrowing Demuxer, video stream: StreamInfo, tracks: [TrackMetadata],
    sounds: [StreamInfo]
  ) throws(Stop) {
    let track = { (stream: StreamInfo) in tracks.first { $0.number == stream.number } }
    var candidates: [FirstAudio] = []
    for sound in sounds.prefix(Self.maxAudioStreams) {
      if let candidate = FirstAudio(sound, track: track(sound), of: demuxer, source) { candidates.append(candidate) }
    }
    demuxer.select(Set([stream.index] + candidates.map(\.stream.index)))
    let picture = try FirstFrame(stream, track: track(stream), of: demuxer, source)
    let packet = try Stop.wrap { () throws(AVError) in try Packet() }
    var facts: VideoFacts?
    var budget = Self.maxAudioPackets
    while facts == nil || (budget > 0 && candidates.contains { $0.facts == nil }) {
      guard try source.read(demuxer, into: packet) else {
        if facts == nil { facts = try picture.finish() }
        break
      }
      defer { packet.unreference() }
      if packet.stream == stream.index {
        if facts == nil { facts = try picture.take(packet) }
      } else {
        for candidate in candidates { candidate.take(packet) }
      }
      if facts != nil { budget -= 1 }
    }
    guard let facts else { throw source.refusal(.corruptVideo, "no picture of it can be decoded", seconds: 0) }
    video = facts
    audio = candidates.lazy.compactMap(\.facts).first
  }
}
