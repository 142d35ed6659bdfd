internal import CFFmpeg

/// A decoded picture, or a stretch of decoded sound (libavutil/frame.h).
package struct Frame: ~Copyable {
  let pointer: UnsafeMutablePointer<AVFrame>

  /// An empty frame, to be filled by a decoder and used again and again.
  package init() throws(AVError) {
    guard let pointer = av_frame_alloc() else { throw .outOfMemory("av_frame_alloc") }
    self.pointer = pointer
  }

  /// A picture with memory of its own, every row aligned for the widest vectors.
  package init(width: Int, height: Int, format: PixelFormat) throws(AVError) {
    pointer = try Self.allocate { frame in
      frame.width = Int32(width)
      frame.height = Int32(height)
      frame.format = format.rawValue
    }
  }

  /// Room of the kind that `describe` says; on failure nothing of it stays.
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

  /// When it is presented, in the time base of the stream it came from or goes to; nil if unknown.
  package var pts: Int64? {
    get { Timestamp.known(pointer.pointee.pts) }
    nonmutating set { pointer.pointee.pts = Timestamp.raw(newValue) }
  }

  /// The decoder's best guess of when it is presented, where the packets' times are broken; nil if unknown.
  package var bestTimestamp: Int64? { Timestamp.known(pointer.pointee.best_effort_timestamp) }
  /// How long its packet said that it is presented; 0 if unknown.
  package var duration: Int64 { pointer.pointee.pkt_duration }

  /// In samples.
  package var width: Int { Int(pointer.pointee.width) }
  package var height: Int { Int(pointer.pointee.height) }
  package var format: PixelFormat { PixelFormat(pointer.pointee.format) }
  package var sampleAspectRatio: Rational { Rational(pointer.pointee.sample_aspect_ratio) }

  /// How its numbers mean colours.
  package var color: ColorDescription {
    let frame = pointer.pointee
    return ColorDescription(
      range: frame.color_range, matrix: frame.colorspace, primaries: frame.color_primaries, transfer: frame.color_trc)
  }

  /// Whether the decoder met damage in it, concealed or not.
  package var isDamaged: Bool {
    pointer.pointee.decode_error_flags != 0 || pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  /// Whether its rows are two fields, taken one after the other.
  package var isInterlaced: Bool { pointer.pointee.interlaced_frame != 0 }
  /// Whether the field of the first row was taken first.
  package var isTopFieldFirst: Bool { pointer.pointee.top_field_first != 0 }

  /// Sound: how many samples each channel has.
  package var sampleCount: Int { Int(pointer.pointee.nb_samples) }

  /// The first byte of a plane and the bytes from row to row; valid until the frame is filled anew or freed.
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

  /// Takes the pixels or samples of another frame, which is empty afterwards.
  package func take(_ other: borrowing Frame) {
    av_frame_unref(pointer)
    av_frame_move_ref(pointer, other.pointer)
  }

  /// Lets go of the pixels or samples.
  package func unreference() { av_frame_unref(pointer) }

  /// Becomes another reference to the same pixels or samples.
  package func reference(_ other: borrowing Frame) throws(AVError) {
    av_frame_unref(pointer)
    try AVError.check(av_frame_ref(pointer, other.pointer), "av_frame_ref")
  }

  /// Takes over the times and the colour description of another frame, and not its pixels.
  package func describe(like other: borrowing Frame) throws(AVError) {
    try AVError.check(av_frame_copy_props(pointer, other.pointer), "av_frame_copy_props")
  }

  /// Becomes another reference to the same pixels, bare of what the decoder said of them.
  ///
  /// An encoder would otherwise repeat the source's key frames and carry over its side data.
  package func referenceForEncoding(_ other: borrowing Frame) throws(AVError) {
    av_frame_unref(pointer)
    try AVError.check(av_frame_ref(pointer, other.pointer), "av_frame_ref")
    pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
    pointer.pointee.key_frame = 0
    while pointer.pointee.nb_side_data > 0, let first = pointer.pointee.side_data?.pointee {
      av_frame_remove_side_data(pointer, first.pointee.type)
    }
  }
}

/// A frame has one owner, who may hand it to another thread; what its pixels share with others is counted by libav.
extension Frame: @unchecked Sendable {}
