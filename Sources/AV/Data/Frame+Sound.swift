internal import CFFmpeg

extension Frame {
  /// Room for `capacity` samples of each channel as 32-bit floats, a plane each.
  package init(sampleCapacity capacity: Int, sampleRate: Int, channels: Int) throws(AVError) {
    self.init(
      owning: try Self.allocate { frame in
        frame.nb_samples = Int32(capacity)
        frame.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.sample_rate = Int32(sampleRate)
        av_channel_layout_default(&frame.ch_layout, Int32(channels))
      })
  }

  /// In hertz.
  package var sampleRate: Int { Int(pointer.pointee.sample_rate) }
  package var channels: Int { Int(pointer.pointee.ch_layout.nb_channels) }

  /// Says how many samples of its room are filled.
  package func setSampleCount(_ count: Int) { pointer.pointee.nb_samples = Int32(count) }

  /// The samples of one of the first eight channels; valid until the frame is filled anew or freed.
  ///
  /// Nil unless the samples are floats in planes.
  package func samples(ofChannel channel: Int) -> UnsafeMutableBufferPointer<Float>? {
    guard pointer.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, channel < min(channels, 8),
      let plane = pointer.pointee.extended_data?[channel]
    else { return nil }
    return UnsafeMutableRawBufferPointer(start: plane, count: sampleCount * MemoryLayout<Float>.size)
      .assumingMemoryBound(to: Float.self)
  }

  /// Makes sure that its memory is nobody else's, as an encoder may still hold the last one's.
  package func makeWritable() throws(AVError) {
    try AVError.check(av_frame_make_writable(pointer), "av_frame_make_writable")
  }
}
