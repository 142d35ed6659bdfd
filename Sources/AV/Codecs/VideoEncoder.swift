internal import CFFmpeg

/// Encodes video frames on the calling thread. Once `send` has returned and its packets are received, the encoder no
/// longer uses the frame.
package struct VideoEncoder: ~Copyable {
  let context: UnsafeMutablePointer<AVCodecContext>
  /// The time base of the frames' timestamps.
  package let timeBase: Rational

  /// Opens the encoder. An option that the encoder does not know is an error.
  package init(_ settings: VideoEncoderSettings) throws(AVError) {
    guard let codec = avcodec_find_encoder_by_name(settings.encoder) else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_encoder_by_name", subject: settings.encoder)
    }
    // Sorted, because options may depend on each other: the result must not depend on the order of a dictionary.
    var options = settings.options.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    if let profile = settings.profile { options.append(("profile", profile)) }
    context = try CodecContext.open(codec, options: options) { context throws(AVError) in
      context.pointee.width = Int32(settings.width)
      context.pointee.height = Int32(settings.height)
      context.pointee.pix_fmt = settings.format.value
      context.pointee.time_base = settings.timeBase.value
      context.pointee.framerate = settings.frameRate.value
      context.pointee.sample_aspect_ratio = settings.sampleAspectRatio.value
      context.pointee.color_range = settings.color.rangeCode
      context.pointee.colorspace = settings.color.matrixCode
      context.pointee.color_primaries = settings.color.primariesCode
      context.pointee.color_trc = settings.color.transferCode
      context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
    }
    timeBase = settings.timeBase
  }

  deinit { CodecContext.free(context) }

  /// Sends the next frame to the encoder. The caller must have received every packet before.
  package func send(_ frame: borrowing Frame) throws(AVError) {
    try AVError.check(avcodec_send_frame(context, frame.pointer), "avcodec_send_frame")
  }

  /// Starts to drain the encoder: no more frames follow.
  package func finish() throws(AVError) {
    try AVError.check(avcodec_send_frame(context, nil), "avcodec_send_frame")
  }

  /// Receives the next packet from the encoder.
  package func receive(into packet: borrowing Packet) throws(AVError) -> Received {
    try CodecContext.received(avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet")
  }
}

/// An encoder has one owner and may move to another thread.
extension VideoEncoder: @unchecked Sendable {}

/// The settings of a video encoder.
package struct VideoEncoderSettings: Hashable, Sendable {
  /// FFmpeg's name of the encoder.
  package var encoder: String
  /// The encoder's private options by name: `preset`, `crf`, `x264-params`.
  package var options: [String: String]
  /// The value of the encoder's option `profile`; nil for the encoder's default.
  package var profile: String?
  package var width: Int
  package var height: Int
  package var format: PixelFormat
  /// The time base of the frames' timestamps.
  package var timeBase: Rational
  /// Frames per second; the encoder's rate control uses it.
  package var frameRate: Rational
  package var color: ColorDescription
  /// The width of a pixel divided by its height.
  package var sampleAspectRatio: Rational

  package init(
    encoder: String, options: [String: String], profile: String? = nil, width: Int, height: Int,
    format: PixelFormat = .yuv420p, timeBase: Rational, frameRate: Rational, color: ColorDescription = .bt709,
    sampleAspectRatio: Rational = Rational(1, 1)
  ) {
    self.encoder = encoder
    self.options = options
    self.profile = profile
    self.width = width
    self.height = height
    self.format = format
    self.timeBase = timeBase
    self.frameRate = frameRate
    self.color = color
    self.sampleAspectRatio = sampleAspectRatio
  }
}
