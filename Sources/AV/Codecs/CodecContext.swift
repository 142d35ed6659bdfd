internal import CFFmpeg

/// What decoders and encoders have in common: how a context is opened, and how its answers are read.
enum CodecContext {
  /// Opens a context on one thread; on failure nothing of it stays.
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
      if let option = options.leftOver {
        throw AVError(cffmpeg_error(EINVAL), "avcodec_open2", subject: "\(name): \(option)")
      }
    } catch {
      avcodec_free_context(&context)
      throw error
    }
    return opened
  }

  static func free(_ context: UnsafeMutablePointer<AVCodecContext>) {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// Reads the answer of a call that takes an output out of a codec.
  static func received(_ status: Int32, _ call: StaticString) throws(AVError) -> Received {
    if status >= 0 { return .output }
    if status == cffmpeg_error(EAGAIN) { return .needsInput }
    if status == cffmpeg_error_end() { return .ended }
    throw AVError(status, call)
  }
}
