internal import CFFmpeg

/// The properties of a stream as the container's headers state them.
package struct StreamInfo: Hashable, Sendable {
  package let index: Int
  /// The track ID of the container.
  package let number: Int
  package let kind: MediaKind
  /// FFmpeg's name of the codec, such as `h264`; `none` if FFmpeg does not know it.
  package let codec: String
  /// The codec's four-character code in the container.
  package let tag: String
  /// FFmpeg's name of the profile; nil if the headers do not state it.
  package let profile: String?
  /// The duration of one tick in seconds.
  package let timeBase: Rational
  /// The start time in ticks; nil if unknown.
  package let start: Int64?
  /// The duration in ticks; nil if unknown.
  package let duration: Int64?
  /// The average number of frames per second.
  package let frameRate: Rational
  /// Whether the track header enables the track (ISO/IEC 14496-12, 8.3.1); players ignore a disabled track. WebM has none.
  package let isEnabled: Bool
  /// The decoder configuration (`extradata`), such as the content of `avcC`; empty if there is none.
  package let configuration: [UInt8]
  /// Whether the stream is an attached picture, such as cover art.
  package let isAttachedPicture: Bool

  /// Video: the coded width in pixels.
  package let width: Int
  package let height: Int
  package let sampleAspectRatio: Rational
  package let color: ColorDescription
  /// Video: the nine numbers of the track's display matrix; nil if it has none.
  package let displayMatrix: [Int32]?

  /// Audio: in hertz.
  package let sampleRate: Int
  package let channels: Int
  /// Audio: bits per second; 0 if unknown.
  package let bitRate: Int64

  init(_ stream: UnsafeMutablePointer<AVStream>, of format: Demuxer.Format) {
    let parameters = stream.pointee.codecpar.pointee
    index = Int(stream.pointee.index)
    number = Int(stream.pointee.id)
    kind = MediaKind(parameters.codec_type)
    codec = String(cString: avcodec_get_name(parameters.codec_id))
    tag = Self.characters(of: parameters.codec_tag)
    profile = avcodec_profile_name(parameters.codec_id, parameters.profile).map { String(cString: $0) }
    timeBase = Rational(stream.pointee.time_base)
    start = Timestamp.known(stream.pointee.start_time)
    duration = Timestamp.known(stream.pointee.duration)
    frameRate = Rational(stream.pointee.avg_frame_rate)
    isEnabled = format == .webM || stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0
    configuration = [UInt8](UnsafeBufferPointer(start: parameters.extradata, count: Int(parameters.extradata_size)))
    isAttachedPicture = stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    width = Int(parameters.width)
    height = Int(parameters.height)
    let aspect = stream.pointee.sample_aspect_ratio
    sampleAspectRatio = Rational(aspect.num != 0 ? aspect : parameters.sample_aspect_ratio)
    color = ColorDescription(
      range: parameters.color_range, matrix: parameters.color_space, primaries: parameters.color_primaries,
      transfer: parameters.color_trc)
    displayMatrix = Self.displayMatrix(of: stream)
    sampleRate = Int(parameters.sample_rate)
    channels = Int(parameters.ch_layout.nb_channels)
    bitRate = parameters.bit_rate
  }

  private static func displayMatrix(of stream: UnsafeMutablePointer<AVStream>) -> [Int32]? {
    var count = 0
    guard let data = cffmpeg_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &count),
      count >= 9 * MemoryLayout<Int32>.size
    else { return nil }
    let bytes = UnsafeRawPointer(data)
    return (0..<9).map { bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int32>.size, as: Int32.self) }
  }

  private static func characters(of tag: UInt32) -> String {
    String(
      decoding: (0..<4).map { shift in
        let byte = UInt8(truncatingIfNeeded: tag >> (8 * UInt32(shift)))
        return (0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: ".")
      }, as: UTF8.self)
  }
}

/// The media type of a stream.
package enum MediaKind: Hashable, Sendable {
  case video, audio, other

  init(_ type: AVMediaType) {
    switch type {
    case AVMEDIA_TYPE_VIDEO: self = .video
    case AVMEDIA_TYPE_AUDIO: self = .audio
    default: self = .other
    }
  }
}
