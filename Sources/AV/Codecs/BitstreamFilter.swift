internal import CFFmpeg

/// Changes coded data without decoding them (libavcodec/bsf.h).
package struct BitstreamFilter: ~Copyable {
  private let context: UnsafeMutablePointer<AVBSFContext>

  /// Leaves out the units of these types from the packets of a stream of H.264 or HEVC.
  ///
  /// - Parameter types: numbers of NAL unit types (ITU-T H.264, table 7-1).
  package init(removingUnits types: [Int], from stream: Int, of demuxer: borrowing Demuxer) throws(AVError) {
    guard let filter = av_bsf_get_by_name("filter_units") else {
      throw AVError(cffmpeg_error(ENOSYS), "av_bsf_get_by_name", subject: "filter_units")
    }
    var context: UnsafeMutablePointer<AVBSFContext>?
    try AVError.check(av_bsf_alloc(filter, &context), "av_bsf_alloc")
    guard let allocated = context, let source = demuxer.context.pointee.streams[stream] else {
      av_bsf_free(&context)
      throw .outOfMemory("av_bsf_alloc")
    }
    do throws(AVError) {
      try AVError.check(
        avcodec_parameters_copy(allocated.pointee.par_in, source.pointee.codecpar), "avcodec_parameters_copy")
      allocated.pointee.time_base_in = source.pointee.time_base
      let list = types.map(String.init).joined(separator: "|")
      try AVError.check(av_opt_set(allocated.pointee.priv_data, "remove_types", list, 0), "av_opt_set")
      try AVError.check(av_bsf_init(allocated), "av_bsf_init")
    } catch {
      av_bsf_free(&context)
      throw error
    }
    self.context = allocated
  }

  deinit {
    var context: UnsafeMutablePointer<AVBSFContext>? = context
    av_bsf_free(&context)
  }

  /// Gives it a packet, whose data it takes over; every packet must have been received before.
  package func send(_ packet: borrowing Packet) throws(AVError) {
    try AVError.check(av_bsf_send_packet(context, packet.pointer), "av_bsf_send_packet")
  }

  /// Takes the next packet out of it; one of which nothing is left is left out.
  package func receive(into packet: borrowing Packet) throws(AVError) -> Received {
    try CodecContext.received(av_bsf_receive_packet(context, packet.pointer), "av_bsf_receive_packet")
  }
}
