internal import CFFmpeg

/// The calls that decoders and encoders share: opening a context and interpreting its status codes.
enum CodecContext {
  /// Opens a context that uses one thread. On failure, frees the context.
  static func open(
    _ codec: UnsafePointer<AVCodec>, options entries: [(String, String)] = [],
    configure: (UnsafeMutablePointer<AVCodecContext>) throws(AVError) -> Void
  ) throws(AVError) -> UnsafeMutablePointer<AVCodecContext> {
    var context = avcodec_alloc_context3(codec)
    guard let opened = context else { throw .outOfMemory("avcodec_alloc_context3") }
    do throws(AVError) {
      try configure(opened)
      opened.pointee.thread_count = 1
      var options = Options(entries)
      let name = String(cString: codec.pointee.name)
      try AVError.check(avcodec_open2(opened, codec, &options.pointer), "avcodec_open2", subject: name)
      if let option = options.unconsumed {
        throw AVError(cffmpeg_error(EINVAL), "avcodec_open2", subject: "\(name): \(option)")
      }
    } catch {
      avcodec_free_context(&context)
      throw error
    }
    return opened
  }

  static func free(_ context: UnsafeMutablePointer<AVCodecContext>?) {
    var context = context
    avcodec_free_context(&context)
  }

  /// Interprets the status of `avcodec_receive_frame` or `avcodec_receive_packet`.
  static func received(_ status: Int32, _ call: StaticString) throws(AVError) -> Received {
    if status >= 0 { return .output }
    if status == cffmpeg_error(EAGAIN) { return .needsInput }
    if status == cffmpeg_error_end() { return .ended }
    throw AVError(status, call)
  }
}

/// The result of receiving from a codec.
package enum Received: Hashable, Sendable {
  /// The codec returned a frame or a packet.
  case output
  /// The codec needs more input first (`AVERROR(EAGAIN)`).
  case needsInput
  /// The codec is drained (`AVERROR_EOF`).
  case ended
}
