import AV
import ISOBaseMedia
import Model

/// Decodes the video stream up to its first frame, and where frames may be interlaced, up to the first that is.
final class FirstFrame {
  private let stream: StreamInfo
  private let track: TrackMetadata?
  private let source: InputSource
  private let decoder: Decoder
  private let frame: Frame
  private var openStart: OpenStart
  /// Whether a later frame may be interlaced although the first one is not: cameras code each frame as they see fit.
  private(set) var awaitsFields: Bool

  // 4:2:0 chroma and the scaler's filters need some pixels.
  private static let minEdge = 16

  /// - Parameter track: the track's boxes that the demuxer does not read.
  init(
    _ stream: StreamInfo, track: TrackMetadata?, of demuxer: borrowing Demuxer, _ source: InputSource
  ) throws(RunFailure) {
    self.stream = stream
    self.track = track
    self.source = source
    openStart = OpenStart(stream)
    awaitsFields = stream.codec == "h264" && AVCConfiguration(stream.configuration)?.allowsFields ?? true
    do {
      decoder = try Decoder(
        stream: stream.index, of: demuxer, limits: source.decoderLimits(source.videoCodecs),
        decodesPixels: false)
    } catch {
      throw source.failure(for: error, .unsupportedCodec, "its video cannot be decoded")
    }
    frame = try RunFailure.wrap { () throws(AVError) in try Frame() }
  }

  /// Decodes a packet; returns the facts once a frame is decoded.
  func take(_ packet: borrowing Packet) throws(RunFailure) -> VideoFacts? {
    if openStart.isLeading(packet) { return nil }
    do { try decoder.send(packet) } catch { throw damaged(error) }
    return try receive()
  }

  /// Flushes the decoder; returns the facts if that outputs a frame.
  func finish() throws(RunFailure) -> VideoFacts? {
    do { try decoder.finish() } catch { throw damaged(error) }
    return try receive()
  }

  /// Decodes a packet after the first frame; returns whether a frame is interlaced.
  ///
  /// Damage ends the search: the run decodes the clip again, and refuses it.
  func findsFields(in packet: borrowing Packet) -> Bool {
    if openStart.isLeading(packet) { return false }
    return findsFields { () throws(AVError) in try decoder.send(packet) }
  }

  /// Flushes the decoder after the first frame; returns whether a frame is interlaced.
  func findsFieldsAtEnd() -> Bool { findsFields { () throws(AVError) in try decoder.finish() } }

  private func findsFields(after input: () throws(AVError) -> Void) -> Bool {
    do throws(AVError) {
      try input()
      while try decoder.receive(into: frame) == .output {
        guard frame.isInterlaced else { continue }
        awaitsFields = false
        return true
      }
    } catch {
      awaitsFields = false
    }
    return false
  }

  private func receive() throws(RunFailure) -> VideoFacts? {
    do {
      guard try decoder.receive(into: frame) == .output else { return nil }
    } catch {
      throw damaged(error)
    }
    try check()
    if frame.isInterlaced { awaitsFields = false }
    return facts()
  }

  private func damaged(_ error: AVError) -> RunFailure {
    source.failure(for: error, .corruptVideo, "its first frame cannot be decoded", at: 0)
  }

  private func check() throws(RunFailure) {
    let format = frame.format
    guard format.isPlanar420, format.bitDepth == 8 || format.bitDepth == 10 else {
      throw source.refusal(.unsupportedCodec, "its frames are \(format); 4:2:0 with 8 or 10 bits is accepted")
    }
    guard min(frame.width, frame.height) >= Self.minEdge else {
      throw source.refusal(
        .unsupportedCodec,
        "its frames have \(frame.width)x\(frame.height) pixels; at least \(Self.minEdge) in each direction are needed")
    }
    guard frame.width * frame.height <= source.limits.pixels else {
      let size = Size(width: frame.width, height: frame.height)
      throw .refused(.tooManyPixels(size, limit: source.limits.pixels, input: source.name))
    }
  }

  private func facts() -> VideoFacts {
    let transform = stream.displayMatrix.map { Transform(displayMatrix: $0) } ?? .identity
    let aspect = aspectRatio()
    let aperture = track?.cleanAperture?.samples(ofWidth: frame.width, height: frame.height)
      .map { Rectangle(x: $0.x, y: $0.y, width: $0.width, height: $0.height) }
    let shown =
      aperture.map { Size(width: $0.width, height: $0.height) }
      ?? Size(width: frame.width, height: frame.height)
    let width = max(1, Int((Double(shown.width) * aspect).rounded()))
    // VP8 has no description of its colours, and FFmpeg describes them as BT.601: the container may have another description.
    let isTaggedOutside = stream.codec == "vp8" && stream.color.matrix != "unknown"
    let color = isTaggedOutside ? stream.color : frame.color
    return VideoFacts(
      stream: stream.index, codec: stream.codec, tag: stream.tag, profile: decoder.profile,
      pixelFormat: frame.format.description, coded: Size(width: frame.width, height: frame.height),
      sampleAspectRatio: aspect, transform: transform, cleanAperture: aperture,
      display: transform.swapsAxes
        ? Size(width: shown.height, height: width) : Size(width: width, height: shown.height),
      framesPerSecond: stream.frameRate.quotient,
      color: ColorFacts(
        range: color.range, matrix: color.matrix, primaries: color.primaries, transfer: color.transfer),
      dynamicRange: DynamicRange(transfer: color.transfer), dolbyVisionProfile: track?.dolbyVision?.profile,
      isInterlaced: frame.isInterlaced ? true : nil, editEnd: track?.editEnd,
      dwells: track.flatMap { track in
        track.dwells.isEmpty
          ? nil : track.dwells.map { SecondsRange(shortest: $0.lowerBound, longest: $0.upperBound) }
      })
  }

  // The container takes precedence over the bitstream. An aspect ratio that no camera has is damage and is ignored.
  private func aspectRatio() -> Double {
    let ratio = stream.sampleAspectRatio.quotient ?? frame.sampleAspectRatio.quotient ?? 1
    return (0.25...4).contains(ratio) ? ratio : 1
  }
}
