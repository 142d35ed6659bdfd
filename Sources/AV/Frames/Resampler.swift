internal import CFFmpeg
import Glibc

/// Converts audio of any sample rate, channel layout and format to planar floats of one rate and channel count
/// (libswresample).
package struct Resampler: ~Copyable {
  private let context: OpaquePointer
  private let format: Int32
  private let rate: Int32
  private let layout: AVChannelLayout

  /// The sample rates of recordings, in hertz: at a rate of 1, one frame would become gigabytes of samples.
  fileprivate static let sampleRates = 4_000...384_000
  /// The maximum number of channels, libswresample's own.
  fileprivate static let maxChannels = 64

  /// Creates a resampler for frames with the format, rate and channels of `frame`.
  package init(like frame: borrowing Frame, toRate rate: Int, channels: Int) throws(AVError) {
    var target = AVChannelLayout()
    av_channel_layout_default(&target, Int32(channels))
    Self.setDefaultLayout(of: frame)
    var context: OpaquePointer?
    try AVError.check(
      swr_alloc_set_opts2(
        &context, &target, AV_SAMPLE_FMT_FLTP, Int32(rate), &frame.pointer.pointee.ch_layout,
        AVSampleFormat(frame.pointer.pointee.format), frame.pointer.pointee.sample_rate, 0, nil),
      "swr_alloc_set_opts2")
    if channels == 2 { Self.keepLevel(of: frame, in: context) }
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

  // By default, libswresample takes 3 dB from one channel that becomes two, and adds more than 7 dB to six that all have the same sound.
  private static func keepLevel(of frame: borrowing Frame, in context: OpaquePointer?) {
    if frame.pointer.pointee.ch_layout.nb_channels == 1 {
      swr_set_matrix(context, [1, 1], 1)
    } else {
      av_opt_set_double(context.map { UnsafeMutableRawPointer($0) }, "rematrix_maxval", 1, 0)
    }
  }

  deinit {
    var context: OpaquePointer? = context
    swr_free(&context)
    var layout = layout
    av_channel_layout_uninit(&layout)
  }

  /// Whether a frame has the format, rate and channels of this resampler; a stream may change them midway.
  package func accepts(_ frame: borrowing Frame) -> Bool {
    Self.setDefaultLayout(of: frame)
    var layout = layout
    return frame.pointer.pointee.format == format && frame.pointer.pointee.sample_rate == rate
      && av_channel_layout_compare(&frame.pointer.pointee.ch_layout, &layout) == 0
  }

  // A file that does not specify a channel layout means the default one for its number of channels.
  private static func setDefaultLayout(of frame: borrowing Frame) {
    guard frame.pointer.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC else { return }
    av_channel_layout_default(&frame.pointer.pointee.ch_layout, frame.pointer.pointee.ch_layout.nb_channels)
  }

  /// Whether the channels of a frame can be mixed: damaged audio has combinations that no recording has.
  fileprivate static func canMix(_ frame: borrowing Frame) -> Bool {
    setDefaultLayout(of: frame)
    var target = AVChannelLayout()
    av_channel_layout_default(&target, 2)
    guard frame.pointer.pointee.ch_layout.order != AV_CHANNEL_ORDER_UNSPEC else { return false }
    // Most frames: the matrix of 64 by 64 channels takes more time than the frame's samples.
    guard av_channel_layout_compare(&frame.pointer.pointee.ch_layout, &target) != 0 else { return true }
    var mono = AVChannelLayout()
    av_channel_layout_default(&mono, 1)
    guard av_channel_layout_compare(&frame.pointer.pointee.ch_layout, &mono) != 0 else { return true }
    let status = withUnsafeTemporaryAllocation(of: Double.self, capacity: maxChannels * maxChannels) { matrix in
      swr_build_matrix2(
        &frame.pointer.pointee.ch_layout, &target, 1, 1, 1, 1, 1, matrix.baseAddress, maxChannels,
        AV_MATRIX_ENCODING_NONE, nil)
    }
    return status >= 0
  }

  /// Sends a frame to the resampler, which buffers the result until it is received.
  ///
  /// A frame that the resampler does not accept is an error, because its planes would be misread.
  package func send(_ frame: borrowing Frame) throws(AVError) {
    guard accepts(frame) else { throw AVError(cffmpeg_error(EINVAL), "swr_convert") }
    guard let data = frame.pointer.pointee.extended_data else { return }
    let input = UnsafeMutableRawPointer(data).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
    try AVError.check(swr_convert(context, nil, 0, input, frame.pointer.pointee.nb_samples), "swr_convert")
  }

  /// Flushes the samples that the filter holds back.
  package func finish() throws(AVError) {
    try AVError.check(swr_convert(context, nil, 0, nil, 0), "swr_convert")
  }

  /// Receives samples into a frame, from sample `offset` on.
  ///
  /// - Returns: the number of samples received, at most `count`.
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

extension Frame {
  /// Audio: whether a recording can have this sample rate and these channels; other frames count as damaged.
  package var isResamplable: Bool {
    Resampler.sampleRates.contains(sampleRate) && 1...Resampler.maxChannels ~= channels && Resampler.canMix(self)
  }
}
