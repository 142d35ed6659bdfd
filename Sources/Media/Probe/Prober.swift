import AV
import ISOBaseMedia
package import Model
package import Platform

/// Reads what an input's headers and its first frames say, and refuses what they already rule out.
///
/// It is synchronous and reads the file by position only.
package struct Prober: Sendable {
  private let limits: Limits
  private let cancellation: CancellationFlag

  /// - Parameters:
  ///   - limits: what inputs may be.
  ///   - cancellation: read between packets.
  package init(limits: Limits, cancellation: CancellationFlag = CancellationFlag()) {
    self.limits = limits
    self.cancellation = cancellation
  }

  /// The facts of a clip, or the reason for which it is refused.
  ///
  /// - Throws: `MediaError` where nothing can be said about the media.
  package func probe(_ file: OpenFile, as input: InputName) throws(MediaError) -> Result<ClipFacts, Reason> {
    let source = InputSource(name: input, file: file, limits: limits, interrupt: Interrupt(flag: cancellation))
    do {
      return .success(try facts(of: source))
    } catch {
      switch error {
      case .refused(let reason): return .failure(reason)
      case .failed(let failure): throw failure
      }
    }
  }

  private func facts(of source: InputSource) throws(Stop) -> ClipFacts {
    let bytes = try size(of: source)
    let check = try ContainerCheck(source, bytes: bytes)
    let demuxer = try source.open()
    let video = try videoStream(of: demuxer, source)
    let sounds = demuxer.streams.filter { $0.kind == .audio && source.audioCodecs.contains($0.codec) }.enabledFirst
    let track = check.metadata.tracks.first { $0.number == video.number }
    try refuseUnviewable(track, source)
    var first = try FirstFrames(
      source, demuxer: demuxer, video: video, tracks: check.metadata.tracks, sounds: sounds)
    if let allowed = limits.seconds {
      first.video.copyObstacle = try PacketScan(of: source, video: first.video, allowed: allowed).copyObstacle
    }
    return ClipFacts(
      container: check.container, bytes: bytes, duration: demuxer.duration,
      recorded: check.metadata.recorded, video: first.video, audio: first.audio,
      identifying: check.metadata.identifying,
      unusedStreams: demuxer.streams.filter { $0.index != video.index && $0.index != first.audio?.stream }
        .map { "\($0.index): \(Self.name(of: $0))" })
  }

  private func size(of source: InputSource) throws(Stop) -> Int64 {
    let bytes: Int64
    do { bytes = try source.file.descriptor.size() } catch { throw Stop(error) }
    if bytes == 0 { throw source.refusal(.emptyFile, "the file has no bytes") }
    if bytes > limits.bytes {
      throw source.refusal(.tooLarge, "the file has \(bytes) bytes; at most \(limits.bytes) are taken")
    }
    return bytes
  }

  private func videoStream(of demuxer: borrowing Demuxer, _ source: InputSource) throws(Stop) -> StreamInfo {
    let candidates = demuxer.streams.filter { $0.kind == .video && !$0.isAttachedPicture }.enabledFirst
    guard !candidates.isEmpty else {
      throw source.refusal(.noVideoStream, "it has no video stream")
    }
    guard let stream = candidates.first(where: { source.videoCodecs.contains($0.codec) }) else {
      let found = candidates.map(Self.name).joined(separator: ", ")
      throw source.refusal(
        .unsupportedCodec, "its video is \(found); \(source.videoCodecs.joined(separator: " or ")) is taken")
    }
    let (pixels, overflow) = stream.width.multipliedReportingOverflow(by: stream.height)
    if overflow || pixels > limits.pixels { throw tooManyPixels(source, stream.width, stream.height) }
    return stream
  }

  /// Dolby Vision without a base layer: its pictures mean nothing without metadata that only Dolby's decoders apply.
  private func refuseUnviewable(_ track: TrackMetadata?, _ source: InputSource) throws(Stop) {
    guard let vision = track?.dolbyVision, vision.baseLayerCompatibility == 0 else { return }
    throw source.refusal(
      .unsupportedCodec,
      "its video is Dolby Vision profile \(vision.profile), whose pictures have no layer that other decoders show")
  }

  private func tooManyPixels(_ source: InputSource, _ width: Int, _ height: Int) -> Stop {
    source.refusal(
      .tooLarge, "its pictures have \(width)x\(height) pixels; at most \(limits.pixels) in all are taken")
  }

  private static func name(of stream: StreamInfo) -> String {
    stream.codec == "none" ? stream.tag : stream.codec
  }
}

extension [StreamInfo] {
  /// Players pass over tracks that their headers disable, unless there is no other.
  fileprivate var enabledFirst: [StreamInfo] { filter(\.isEnabled) + filter { !$0.isEnabled } }
}
