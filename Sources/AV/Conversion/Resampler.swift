internal import CFFmpeg

/// Brings sound of any rate, layout and format to one rate and channel count as planes of floats (libswresample).
package struct Resampler: ~Copyable {
  private let context: OpaquePointer

  /// Prepares to convert frames like `frame`.
  package init(like frame: borrowing Frame, toRate rate: Int, channels: Int) throws(AVError) {
    var target = AVChannelLayout()
    av_channel_layout_default(&target, Int32(channels))
    // A file may leave the layout of its channels open: the usual one for their number is meant.
    if frame.pointer.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      av_channel_layout_default(&frame.pointer.pointee.ch_layout, frame.pointer.pointee.ch_layout.nb_channels)
    }
    var context: OpaquePointer?
    try AVError.check(
      swr_alloc_set_opts2(
        &context, &target, AV_SAMPLE_FMT_FLTP, Int32(rate), &frame.pointer.pointee.ch_layout,
        AVSampleFormat(frame.pointer.pointee.format), frame.pointer.pointee.sample_rate, 0, nil),
      "swr_alloc_set_opts2")
    let status = swr_init(context)
    if status < 0 { swr_free(&context) }
    try AVError.check(status, "swr_init")
    guard let context else { throw .outOfMemory("swr_alloc_set_opts2") }
    self.context = context
  }

  deinit {
    var context: OpaquePointer? = context
    swr_free(&context)
  }

  /// Takes a frame in; what comes of it waits inside until it is received.
  package func send(_ frame: borrowing Frame) throws(AVError) {
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
