internal import CFFmpeg
import Glibc

/// Brings sound of any rate, layout and format to one rate and channel count as planes of floats (libswresample).
package struct Resampler: ~Copyable {
  private let context: OpaquePointer
  private let format: Int32
  private let rate: Int32
  private let layout: AVChannelLayout

  /// Prepares to convert frames like `frame`.
  package init(like frame: borrowing Frame, toRate rate: Int, channels: Int) throws(AVError) {
    var target = AVChannelLayout()
    av_channel_layout_default(&target, Int32(channels))
    Self.settleLayout(of: frame)
    var context: OpaquePointer?
    try AVError.check(
      swr_alloc_set_opts2(
        &context, &target, AV_SAMPLE_FMT_FLTP, Int32(rate), &frame.pointer.pointee.ch_layout,
        AVSampleFormat(frame.pointer.pointee.format), frame.pointer.pointee.sample_rate, 0, nil),
      "swr_alloc_set_opts2")
    let status = swr_init(context)
    if status < 0 { swr_free(&context) }
    try AVError.check(status, "swr_init")
    guard let ready = context else { throw .outOfMemory("swr_alloc_set_opts2") }
    var layout = AVChannelLayout()
    let copied = av_channel_layout_copy(&layout, &frame.pointer.pointee.ch_layout)
    if copied < 0 { swr_free(&context) }
    try AVError.check(copied, "av_channel_layout_copy")
    self.context = ready
    self.layout = layout
    format = frame.pointer.pointee.format
    self.rate = frame.pointer.pointee.sample_rate
  }

  deinit {
    var context: OpaquePointer? = context
    swr_free(&context)
    var layout = layout
    av_channel_layout_uninit(&layout)
  }

  /// Whether a frame has the format, rate and channels that this was made for; a stream may change them midway.
  package func accepts(_ frame: borrowing Frame) -> Bool {
    Self.settleLayout(of: frame)
    var layout = layout
    return frame.pointer.pointee.format == format && frame.pointer.pointee.sample_rate == rate
      && av_channel_layout_compare(&frame.pointer.pointee.ch_layout, &layout) == 0
  }

  // A file may leave the layout of its channels open: the usual one for their number is meant.
  private static func settleLayout(of frame: borrowing Frame) {
    guard frame.pointer.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC else { return }
    av_channel_layout_default(&frame.pointer.pointee.ch_layout, frame.pointer.pointee.ch_layout.nb_channels)
  }

  /// Takes a frame in; what comes of it waits inside until it is received.
  ///
  /// A frame that it does not accept is an error: its planes are not where they would be read.
  package func send(_ frame: borrowing Frame) throws(AVError) {
    guard accepts(frame) else { throw AVError(cffmpeg_error(EINVAL), "swr_convert") }
    guard let data = frame.pointer.pointee.extended_data else { return }
    let input = UnsafeMutableRawPointer(data).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
    try AVError.check(swr_convert(context, nil, 0, input, frame.pointer.pointee.nb_samples), "swr_convert")
  }

  /// Takes the rest in that a filter holds back for samples that will not come.
  package func finish() throws(AVError) {
    try AVError.check(swr_convert(context, nil, 0, nil, 0), "swr_convert")
  }

  /// Takes samples out into a frame's room behind its first `offset`.
  ///
  /// - Returns: how many there were, at most `count`.
  package func receive(into frame: borrowing Frame, at offset: Int, count: Int) throws(AVError) -> Int {
    let offset = offset * MemoryLayout<Float>.size
    var planes = (UnsafeMutablePointer<UInt8>?.none, UnsafeMutablePointer<UInt8>?.none)
    planes.0 = frame.pointer.pointee.data.0.map { $0 + offset }
    planes.1 = frame.pointer.pointee.data.1.map { $0 + offset }
    let status = withUnsafeMutableBytes(of: &planes) { planes in
      swr_convert(
        context, planes.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self).baseAddress, Int32(count), nil, 0)
    }
    return Int(try AVError.check(status, "swr_convert"))
  }
}
