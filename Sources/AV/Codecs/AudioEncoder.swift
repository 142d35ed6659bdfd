internal import CFFmpeg

/// Encodes audio with one of FFmpeg's own encoders, by default as AAC-LC.
package struct AudioEncoder: ~Copyable {
  /// FFmpeg's name of the encoder for AAC-LC.
  package static let defaultName = "aac"

  let context: UnsafeMutablePointer<AVCodecContext>
  /// The sample rate in hertz. One tick of the frames' timestamps is one sample.
  package let sampleRate: Int
  package let channels: Int

  /// Opens the encoder.
  ///
  /// - Parameters:
  ///   - encoder: FFmpeg's name of the encoder; it must accept floats, as `aac`, `pcm_f32le` and `libopus` do.
  ///   - bitRate: in bits per second; PCM encoders ignore it.
  package init(encoder: String = defaultName, sampleRate: Int, channels: Int, bitRate: Int) throws(AVError) {
    guard let codec = avcodec_find_encoder_by_name(encoder), let format = Self.floats(codec) else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_encoder_by_name", subject: encoder)
    }
    context = try CodecContext.open(codec) { context throws(AVError) in
      context.pointee.sample_fmt = format
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

  /// The first format of an encoder with floats, planar or not; nil: it has none.
  private static func floats(_ codec: UnsafePointer<AVCodec>) -> AVSampleFormat? {
    guard var format = cffmpeg_sample_formats(codec) else { return nil }
    while format.pointee != AV_SAMPLE_FMT_NONE {
      if format.pointee == AV_SAMPLE_FMT_FLTP || format.pointee == AV_SAMPLE_FMT_FLT { return format.pointee }
      format += 1
    }
    return nil
  }

  /// The time base of the frames' timestamps.
  package var timeBase: Rational { Rational(1, Int32(sampleRate)) }

  /// The number of samples per channel in one frame; only the last frame may be shorter. An encoder that accepts any
  /// number gets 1024, as AAC does.
  package var frameSize: Int { context.pointee.frame_size > 0 ? Int(context.pointee.frame_size) : 1024 }

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
