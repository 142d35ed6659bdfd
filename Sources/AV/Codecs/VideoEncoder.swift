internal import CFFmpeg

/// Encodes pictures on the calling thread: when `send` returns and its packets were received, the picture is free again.
package struct VideoEncoder: ~Copyable {
  let context: UnsafeMutablePointer<AVCodecContext>
  /// Of the frames' times.
  package let timeBase: Rational

  /// Opens the encoder; an option that it does not know is an error.
  package init(_ settings: VideoEncoderSettings) throws(AVError) {
    guard let codec = avcodec_find_encoder_by_name(settings.encoder) else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_encoder_by_name", subject: settings.encoder)
    }
    // Sorted, so that an encoder whose options depend on each other is set the same way each time.
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

  /// Gives it the next picture; every packet must have been received before.
  package func send(_ frame: borrowing Frame) throws(AVError) {
    try AVError.check(avcodec_send_frame(context, frame.pointer), "avcodec_send_frame")
  }

  /// Tells it that there are no more pictures.
  package func finish() throws(AVError) {
    try AVError.check(avcodec_send_frame(context, nil), "avcodec_send_frame")
  }

  /// Takes the next packet out of it.
  package func receive(into packet: borrowing Packet) throws(AVError) -> Received {
    try CodecContext.received(avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet")
  }
}
