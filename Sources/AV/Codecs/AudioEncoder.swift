internal import CFFmpeg

/// Encodes sound with one of libav's own encoders, as AAC-LC unless told otherwise.
package struct AudioEncoder: ~Copyable {
  let context: UnsafeMutablePointer<AVCodecContext>
  /// In hertz; one tick of the frames' times is one sample.
  package let sampleRate: Int
  package let channels: Int

  /// Opens the encoder.
  ///
  /// - Parameters:
  ///   - encoder: by libav's name; it must take floats, as `aac` and `pcm_f32le` do.
  ///   - bitRate: bits a second; of no meaning for PCM.
  package init(encoder: String = "aac", sampleRate: Int, channels: Int, bitRate: Int) throws(AVError) {
    guard let codec = avcodec_find_encoder_by_name(encoder), let formats = codec.pointee.sample_fmts else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_encoder_by_name", subject: encoder)
    }
    context = try CodecContext.open(codec) { context throws(AVError) in
      context.pointee.sample_fmt = formats[0]
      context.pointee.sample_rate = Int32(sampleRate)
      av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
      context.pointee.bit_rate = Int64(bitRate)
      context.pointee.time_base = AVRational(num: 1, den: Int32(sampleRate))
      context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
    }
    self.sampleRate = sampleRate
    self.channels = channels
  }

  deinit { CodecContext.free(context) }

  /// Of the frames' times.
  package var timeBase: Rational { Rational(1, Int32(sampleRate)) }

  /// Samples of each channel in one frame; only the last frame may be shorter. Encoders that take any number get as many
  /// as AAC.
  package var frameSize: Int { context.pointee.frame_size > 0 ? Int(context.pointee.frame_size) : 1024 }

  /// Gives it the next frame; every packet must have been received before.
  package func send(_ frame: borrowing Frame) throws(AVError) {
    try AVError.check(avcodec_send_frame(context, frame.pointer), "avcodec_send_frame")
  }

  /// Tells it that there are no more frames.
  package func finish() throws(AVError) {
    try AVError.check(avcodec_send_frame(context, nil), "avcodec_send_frame")
  }

  /// Takes the next packet out of it.
  package func receive(into packet: borrowing Packet) throws(AVError) -> Received {
    try CodecContext.received(avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet")
  }
}
