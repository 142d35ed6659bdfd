internal import CFFmpeg

/// Decodes the packets of one stream on the calling thread. Damaged data are an error.
package struct Decoder: ~Copyable {
  private let context: UnsafeMutablePointer<AVCodecContext>

  /// Opens the decoder of a stream.
  ///
  /// The decoder does not conceal damage, because a clip is accepted only if all of it decodes.
  ///
  /// - Parameter decodesPixels: whether frames get their pixels; false if the caller reads only their properties.
  package init(
    stream index: Int, of demuxer: borrowing Demuxer, limits: DecoderLimits, decodesPixels: Bool = true
  ) throws(AVError) {
    guard let stream = demuxer.context.pointee.streams[index], let parameters = stream.pointee.codecpar else {
      throw AVError(cffmpeg_error(EINVAL), "avcodec_open2")
    }
    let codecName = demuxer.streams[index].codec
    let name = Self.name(ofCodec: codecName)
    // The list names codecs. A codec may have several decoders; only one of them is trusted.
    guard limits.codecs.contains(codecName), let codec = avcodec_find_decoder_by_name(name) else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_decoder_by_name", subject: name)
    }
    context = try CodecContext.open(codec, options: [("codec_whitelist", name)]) { context throws(AVError) in
      try AVError.check(avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context")
      context.pointee.pkt_timebase = stream.pointee.time_base
      context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_EXPLODE
      // Without this flag FFmpeg keeps rows aligned by leaving some of the cropped columns on the left visible.
      context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
      if !decodesPixels {
        context.pointee.skip_idct = AVDISCARD_ALL
        context.pointee.skip_loop_filter = AVDISCARD_ALL
      }
      context.pointee.max_pixels = Int64(limits.pixels)
      context.pointee.max_samples = Int64(limits.samples)
    }
  }

  /// Opens the decoder of an image without a container; one packet has all of it.
  ///
  /// - Parameter codec: FFmpeg's name, which `limits` has to allow.
  package init(ofImage codec: String, limits: DecoderLimits) throws(AVError) {
    let name = Self.name(ofCodec: codec)
    guard limits.codecs.contains(codec), let found = avcodec_find_decoder_by_name(name) else {
      throw AVError(cffmpeg_error(ENOSYS), "avcodec_find_decoder_by_name", subject: name)
    }
    context = try CodecContext.open(found, options: [("codec_whitelist", name)]) { context throws(AVError) in
      context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_EXPLODE
      context.pointee.max_pixels = Int64(limits.pixels)
    }
  }

  deinit { CodecContext.free(context) }

  /// FFmpeg's name of the decoder of a codec: nearly always the name of the codec. FFmpeg's own decoder of AV1 needs hardware.
  static func name(ofCodec codec: String) -> String {
    switch codec {
    case "amr_nb": "amrnb"
    case "amr_wb": "amrwb"
    case "av1": "libdav1d"
    default: codec
    }
  }

  /// FFmpeg's name of the profile that the bitstream declares; nil if unknown.
  package var profile: String? {
    avcodec_profile_name(context.pointee.codec_id, context.pointee.profile).map { String(cString: $0) }
  }

  /// Audio: the number of samples per channel in a frame; 0 if it varies.
  package var frameSize: Int { Int(context.pointee.frame_size) }

  /// Sends the next packet to the decoder. The caller must have received every frame before.
  package func send(_ packet: borrowing Packet) throws(AVError) {
    try AVError.check(avcodec_send_packet(context, packet.pointer), "avcodec_send_packet")
  }

  /// Starts to drain the decoder: no more packets follow.
  package func finish() throws(AVError) {
    try AVError.check(avcodec_send_packet(context, nil), "avcodec_send_packet")
  }

  /// Forgets what was sent: the next packet is one at which decoding can begin.
  package func flush() { avcodec_flush_buffers(context) }

  /// Receives the next frame from the decoder.
  package func receive(into frame: borrowing Frame) throws(AVError) -> Received {
    try CodecContext.received(avcodec_receive_frame(context, frame.pointer), "avcodec_receive_frame")
  }
}

/// The limits that a decoder enforces on untrusted data.
package struct DecoderLimits: Hashable, Sendable {
  /// The codecs that may be opened, by FFmpeg's names.
  package var codecs: [String]
  /// The maximum number of pixels in a frame, width times height.
  package var pixels: Int
  /// The maximum number of samples of all channels in an audio frame.
  package var samples: Int

  /// Codecs have at most a few thousand samples in a frame; PCM has as many as a packet.
  package static let maxSamples = 1 << 16

  package init(codecs: [String], pixels: Int, samples: Int = maxSamples) {
    self.codecs = codecs
    self.pixels = pixels
    self.samples = samples
  }
}
