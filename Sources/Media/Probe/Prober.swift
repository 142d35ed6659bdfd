import AV
import ISOBaseMedia
package import Model
package import Platform

/// Reads the headers and first frames of an input, and refuses an input that they show to be unacceptable.
///
/// It is synchronous and reads the file with pread(2) only.
package struct Prober: Sendable {
  private let limits: Limits
  private let cancellation: CancellationFlag

  /// - Parameters:
  ///   - limits: of the inputs.
  ///   - cancellation: read between packets.
  package init(limits: Limits, cancellation: CancellationFlag = CancellationFlag()) {
    self.limits = limits
    self.cancellation = cancellation
  }

  /// The facts of a clip, or the reason for which it is refused.
  ///
  /// - Throws: `MediaError` if probing fails without a verdict on the media.
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

  private func facts(of source: InputSource) throws(RunFailure) -> ClipFacts {
    let bytes = try size(of: source)
    let check = try ContainerCheck(source, bytes: bytes)
    var source = source
    source.format = Demuxer.Format(check.container)
    let demuxer = try source.open()
    let video = try videoStream(of: demuxer, source)
    let sounds = sounds(of: demuxer, beside: video)
    let track = check.tracks.first { $0.number == video.number }
    try refuseUnviewable(track, source)
    let readable = sounds.filter { source.audioCodecs.contains($0.codec) && isReadRight($0, check.tracks) }
    var first = try FirstFrames(
      source, demuxer: demuxer, video: video, tracks: check.tracks, audioStreams: readable)
    if let allowed = limits.seconds {
      let scan = try PacketScan(of: source, video: first.video, allowedDuration: allowed)
      first.video.copyObstacle = scan.copyObstacle
      first.video.demand = scan.demand
    }
    return ClipFacts(
      container: check.container, bytes: bytes, duration: demuxer.duration ?? check.duration,
      recorded: check.recorded, video: first.video, audio: first.audio,
      undecodedSound: first.audio != nil || sounds.isEmpty
        ? nil : sounds.map { stream in format(of: stream, check.tracks)?.codec ?? Self.name(of: stream) },
      identifying: check.identifying,
      unusedStreams: demuxer.streams.filter { $0.index != video.index && $0.index != first.audio?.stream }
        .map { "\($0.index): \(Self.name(of: $0))" })
  }

  /// The sound streams that players play. A disabled one is a muted one, unless the video that is shown is disabled too:
  /// then the flags mean nothing.
  private func sounds(of demuxer: borrowing Demuxer, beside video: StreamInfo) -> [StreamInfo] {
    let all = demuxer.streams.filter { $0.kind == .audio }
    return video.isEnabled ? all.filter(\.isEnabled) : all.enabledFirst
  }

  private func format(of stream: StreamInfo, _ tracks: [TrackMetadata]) -> UncompressedSound? {
    tracks.first { $0.number == stream.number }?.uncompressed
  }

  /// Whether the demuxer identifies uncompressed sound correctly: FFmpeg 5.1 takes 24 bits for 16, which is loud noise.
  private func isReadRight(_ stream: StreamInfo, _ tracks: [TrackMetadata]) -> Bool {
    format(of: stream, tracks).map { $0.codec == stream.codec } ?? true
  }

  private func size(of source: InputSource) throws(RunFailure) -> Int64 {
    let bytes: Int64
    do { bytes = try source.file.descriptor.size() } catch { throw RunFailure(error) }
    if bytes == 0 { throw source.refusal(.emptyFile, "the file has no bytes") }
    if bytes > limits.bytes { throw .refused(.tooManyBytes(bytes, limit: limits.bytes, input: source.name)) }
    return bytes
  }

  private func videoStream(of demuxer: borrowing Demuxer, _ source: InputSource) throws(RunFailure) -> StreamInfo {
    let candidates = demuxer.streams.filter { $0.kind == .video && !$0.isAttachedPicture }.enabledFirst
    guard !candidates.isEmpty else {
      throw source.refusal(.noVideoStream, "it has no video stream")
    }
    guard let stream = candidates.first(where: { source.videoCodecs.contains($0.codec) }) else {
      throw .refused(
        .unsupportedVideo(candidates.map(Self.name), accepted: source.videoCodecs, input: source.name))
    }
    let (pixels, overflow) = stream.width.multipliedReportingOverflow(by: stream.height)
    if overflow || pixels > limits.pixels {
      let size = Size(width: stream.width, height: stream.height)
      throw .refused(.tooManyPixels(size, limit: limits.pixels, input: source.name))
    }
    return stream
  }

  /// Refuses Dolby Vision without a compatible base layer: only Dolby's decoders can show its frames.
  private func refuseUnviewable(_ track: TrackMetadata?, _ source: InputSource) throws(RunFailure) {
    guard let vision = track?.dolbyVision, vision.baseLayerCompatibility == 0 else { return }
    throw .refused(.unviewableDolbyVision(profile: vision.profile, input: source.name))
  }

  private static func name(of stream: StreamInfo) -> String {
    stream.codec == "none" ? stream.tag : stream.codec
  }
}

extension [StreamInfo] {
  /// The enabled streams before the disabled ones: players skip disabled tracks unless there is no other.
  fileprivate var enabledFirst: [StreamInfo] { filter(\.isEnabled) + filter { !$0.isEnabled } }
}
