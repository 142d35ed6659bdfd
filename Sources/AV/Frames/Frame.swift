internal import CFFmpeg

/// A decoded video frame, or a frame of decoded audio samples (libavutil/frame.h).
///
/// It is a handle of FFmpeg's frame: decoders and converters fill a frame that they borrow, as the handle stays the same.
package struct Frame: ~Copyable {
  let pointer: UnsafeMutablePointer<AVFrame>

  /// Creates an empty frame; a decoder fills it, and it can be reused.
  package init() throws(AVError) {
    guard let pointer = av_frame_alloc() else { throw .outOfMemory("av_frame_alloc") }
    self.pointer = pointer
  }

  /// Allocates a video frame whose rows are aligned to 64 bytes, the width of the widest vectors.
  package init(width: Int, height: Int, format: PixelFormat) throws(AVError) {
    pointer = try Self.allocate { frame in
      frame.width = Int32(width)
      frame.height = Int32(height)
      frame.format = format.rawValue
    }
  }

  /// Allocates a frame with the properties that `describe` sets. On failure, frees the frame.
  static func allocate(_ describe: (inout AVFrame) -> Void) throws(AVError) -> UnsafeMutablePointer<AVFrame> {
    var pointer = av_frame_alloc()
    guard let allocated = pointer else { throw .outOfMemory("av_frame_alloc") }
    describe(&allocated.pointee)
    let status = av_frame_get_buffer(allocated, 64)
    if status < 0 { av_frame_free(&pointer) }
    try AVError.check(status, "av_frame_get_buffer")
    return allocated
  }

  /// Takes ownership of a frame.
  init(owning pointer: UnsafeMutablePointer<AVFrame>) { self.pointer = pointer }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = pointer
    av_frame_free(&pointer)
  }

  /// The presentation timestamp in the time base of the stream or the encoder; nil if unknown.
  package var pts: Int64? {
    get { Timestamp.known(pointer.pointee.pts) }
    nonmutating set { pointer.pointee.pts = Timestamp.raw(newValue) }
  }

  /// The decoder's best estimate of the presentation timestamp, for packets with wrong timestamps; nil if unknown.
  package var bestTimestamp: Int64? { Timestamp.known(pointer.pointee.best_effort_timestamp) }
  /// The duration of the packet that the frame was decoded from, in the time base of the stream; 0 if unknown.
  package var duration: Int64 { cffmpeg_frame_duration(pointer) }

  /// Video: the width in pixels.
  package var width: Int { Int(pointer.pointee.width) }
  /// Video: the height in pixels.
  package var height: Int { Int(pointer.pointee.height) }
  /// Video: the format of its pixels.
  package var format: PixelFormat { PixelFormat(pointer.pointee.format) }
  /// Video: the width of a pixel by its height; 0 if unknown.
  package var sampleAspectRatio: Rational { Rational(pointer.pointee.sample_aspect_ratio) }

  /// Video: the colour properties.
  package var color: ColorDescription {
    let frame = pointer.pointee
    return ColorDescription(
      range: frame.color_range, matrix: frame.colorspace, primaries: frame.color_primaries, transfer: frame.color_trc)
  }

  /// Whether the decoder found damage in the data of the frame, concealed or not.
  package var isDamaged: Bool {
    pointer.pointee.decode_error_flags != 0 || pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  /// Whether the frame is interlaced.
  package var isInterlaced: Bool { cffmpeg_is_interlaced(pointer) != 0 }
  /// Whether the top field is the first one in time.
  package var isTopFieldFirst: Bool { cffmpeg_is_top_field_first(pointer) != 0 }

  /// Audio: the number of samples per channel.
  package var sampleCount: Int { Int(pointer.pointee.nb_samples) }

  /// The first byte of a plane and its stride in bytes; valid until the frame is refilled or freed.
  package func plane(_ index: Int) -> (base: UnsafeMutableRawPointer, stride: Int)? {
    let base: UnsafeMutablePointer<UInt8>?
    let stride: Int32
    switch index {
    case 0: (base, stride) = (pointer.pointee.data.0, pointer.pointee.linesize.0)
    case 1: (base, stride) = (pointer.pointee.data.1, pointer.pointee.linesize.1)
    case 2: (base, stride) = (pointer.pointee.data.2, pointer.pointee.linesize.2)
    default: return nil
    }
    return base.map { (UnsafeMutableRawPointer($0), Int(stride)) }
  }

  /// Moves the content of another frame into this one.
  package func take(_ other: consuming Frame) {
    av_frame_unref(pointer)
    av_frame_move_ref(pointer, other.pointer)
  }

  /// Releases the content.
  package func unreference() { av_frame_unref(pointer) }

  /// Makes this frame another reference to the content of `other`.
  package func reference(_ other: borrowing Frame) throws(AVError) {
    av_frame_unref(pointer)
    try AVError.check(av_frame_ref(pointer, other.pointer), "av_frame_ref")
  }

  /// Copies the timestamps, the colour description and the other properties of a frame, but not its pixels.
  package func copyProperties(of other: borrowing Frame) throws(AVError) {
    try AVError.check(av_frame_copy_props(pointer, other.pointer), "av_frame_copy_props")
  }

  /// Makes this frame another reference to the pixels of `other`, without its frame type and side data.
  ///
  /// Otherwise an encoder would repeat the source's key frames and copy its side data.
  package func referenceForEncoding(_ other: borrowing Frame) throws(AVError) {
    av_frame_unref(pointer)
    try AVError.check(av_frame_ref(pointer, other.pointer), "av_frame_ref")
    pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
    cffmpeg_clear_key_frame(pointer)
    while pointer.pointee.nb_side_data > 0, let first = pointer.pointee.side_data?.pointee {
      av_frame_remove_side_data(pointer, first.pointee.type)
    }
  }
}

/// A frame has one owner and may move to another thread. Its content is reference-counted by FFmpeg.
extension Frame: @unchecked Sendable {}

extension Frame {
  /// Allocates an audio frame for `capacity` samples per channel, as planar 32-bit floats.
  package init(sampleCapacity capacity: Int, sampleRate: Int, channels: Int) throws(AVError) {
    self.init(
      owning: try Self.allocate { frame in
        frame.nb_samples = Int32(capacity)
        frame.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.sample_rate = Int32(sampleRate)
        av_channel_layout_default(&frame.ch_layout, Int32(channels))
      })
  }

  /// Audio: the samples per second of each channel.
  package var sampleRate: Int { Int(pointer.pointee.sample_rate) }
  /// Audio: the number of channels.
  package var channels: Int { Int(pointer.pointee.ch_layout.nb_channels) }

  /// Sets the number of samples per channel that are filled.
  package func setSampleCount(_ count: Int) { pointer.pointee.nb_samples = Int32(count) }

  /// The samples of one of the first eight channels, valid until the frame is refilled or freed; nil unless the samples
  /// are planar floats.
  package func samples(ofChannel channel: Int) -> UnsafeMutableBufferPointer<Float>? {
    guard pointer.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, channel >= 0, channel < min(channels, 8),
      let plane = pointer.pointee.extended_data?[channel]
    else { return nil }
    return UnsafeMutableRawBufferPointer(start: plane, count: sampleCount * MemoryLayout<Float>.size)
      .assumingMemoryBound(to: Float.self)
  }

  /// Copies the content if another reference to it exists: an encoder may still hold one.
  package func makeWritable() throws(AVError) {
    try AVError.check(av_frame_make_writable(pointer), "av_frame_make_writable")
  }
}
