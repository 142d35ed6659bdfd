internal import CFFmpeg

/// Decodes the packets of one stream on the calling thread, and says so when they are damaged.
package struct Decoder: ~Copyable {
  private let context: UnsafeMutablePointer<AVCodecContext>

  /// Opens the decoder of a stream.
  ///
  /// Damage is an error rather than concealed: what we accept has been seen whole.
  ///
  /// - Parameter drawsPictures: false where only what is said of pictures matters: they are parsed and left undrawn.
  package init(
    stream index: Int, of demuxer: borrowing Demuxer, limits: DecoderLimits, drawsPictures: Bool = true
  ) throws(AVError) {
    guard let stream = demuxer.context.pointee.streams[index], let parameters = stream.pointee.codecpar else {
      throw AVError(cffmpeg_error(EINVAL), "avcodec_open2")
    }
    let name = demuxer.streams[index].codec
    // The list names codecs; a codec may have several decoders, of which libav's own is the one to trust.
    guard limits.codecs.contains(name), let codec = avcodec_find_decoder_by_name(name) else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_decoder", subject: name)
    }
    context = try CodecContext.open(codec, options: [("codec_whitelist", name)]) { context throws(AVError) in
      try AVError.check(avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context")
      context.pointee.pkt_timebase = stream.pointee.time_base
      context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_EXPLODE
      // Without it pictures that are cropped on the left show what was cropped, for the sake of aligned rows.
      context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
      if !drawsPictures {
        context.pointee.skip_idct = AVDISCARD_ALL
        context.pointee.skip_loop_filter = AVDISCARD_ALL
      }
      context.pointee.max_pixels = Int64(limits.pixels)
      context.pointee.max_samples = Int64(limits.samples)
    }
  }

  deinit { CodecContext.free(context) }

  /// libav's name of the profile as the data say; nil if unknown.
  package var profile: String? {
    avcodec_profile_name(context.pointee.codec_id, context.pointee.profile).map { String(cString: $0) }
  }

  /// Sound: samples in a frame of the codec; 0 if they vary.
  package var frameSize: Int { Int(context.pointee.frame_size) }

  /// Gives it the next packet; every frame must have been received before.
  package func send(_ packet: borrowing Packet) throws(AVError) {
    try AVError.check(avcodec_send_packet(context, packet.pointer), "avcodec_send_packet")
  }

  /// Tells it that there are no more packets.
  package func finish() throws(AVError) {
    try AVError.check(avcodec_send_packet(context, nil), "avcodec_send_packet")
  }

  /// Takes the next frame out of it.
  package func receive(into frame: borrowing Frame) throws(AVError) -> Received {
    try CodecContext.received(avcodec_receive_frame(context, frame.pointer), "avcodec_receive_frame")
  }
}
