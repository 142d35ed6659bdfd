internal import CFFmpeg
package import Platform

/// Reads the packets of an ISO base media file (MOV, MP4, 3GP) from an open file and from nothing else.
///
/// The demuxer is forced, its protocols are none, and whatever a file asks to be opened beside itself is refused.
package struct Demuxer: ~Copyable {
  let context: UnsafeMutablePointer<AVFormatContext>
  private let reader: FileReader
  private let interrupt: Interrupt
  /// What the headers say, by the index of the stream.
  package let streams: [StreamInfo]

  // The one demuxer, and the whole of its name, which is what the allow-list is compared with.
  private static let format = "mov,mp4,m4a,3gp,3g2,mj2"

  /// Reads the headers.
  ///
  /// - Parameters:
  ///   - file: read by position, so that several demuxers may read one file.
  ///   - interrupt: asked by libav while it reads.
  package init(reading file: OpenFile, limits: DemuxerLimits, interrupt: Interrupt) throws(AVError) {
    try interrupt.check()
    let reader = try FileReader(file)
    var context = avformat_alloc_context()
    guard let allocated = context else { throw .outOfMemory("avformat_alloc_context") }
    allocated.pointee.pb = reader.context
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    allocated.pointee.io_open = refuseNestedOpen
    allocated.pointee.interrupt_callback = interrupt.callback
    allocated.pointee.max_streams = Int32(limits.streams)
    allocated.pointee.max_probe_packets = 256
    allocated.pointee.probesize = Int64(limits.probeBytes)
    allocated.pointee.max_analyze_duration = 1_000_000
    var options = Options([
      ("format_whitelist", Self.format), ("protocol_whitelist", ""),
      ("codec_whitelist", limits.codecs.joined(separator: ",")),
      ("enable_drefs", "0"), ("use_absolute_path", "0"),
    ])
    // On failure this frees the context and sets it to nil.
    try AVError.check(
      avformat_open_input(&context, nil, av_find_input_format("mov"), &options.pointer), "avformat_open_input")
    guard let context else { throw .outOfMemory("avformat_open_input") }
    self.context = context
    self.reader = reader
    self.interrupt = interrupt
    streams = (0..<Int(context.pointee.nb_streams)).compactMap { index in
      context.pointee.streams[index].map { StreamInfo($0) }
    }
  }

  deinit {
    var context: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&context)
    withExtendedLifetime((reader, interrupt)) {}
  }

  /// The file's length in seconds as its headers say; nil if they do not.
  package var duration: Double? {
    Timestamp.known(context.pointee.duration).map { Double($0) / Double(AV_TIME_BASE) }
  }

  /// The brand that the file was written for (ISO/IEC 14496-12, 4.3), `qt  `; nil without a file type box.
  package var majorBrand: String? {
    guard let entry = av_dict_get(context.pointee.metadata, "major_brand", nil, 0) else { return nil }
    return entry.pointee.value.map { String(cString: $0) }
  }

  /// Whether the system refused to read from the file, which then may be sound.
  package var readFailed: Bool { reader.failed }

  /// How many packets of a stream the index promises, as far as the index is read: all of them at the file's end.
  package func indexedPackets(of stream: Int) -> Int {
    context.pointee.streams[stream].map { Int(avformat_index_get_entries_count($0)) } ?? 0
  }

  /// Reads only these streams from now on; the data of the others are skipped.
  package func select(_ selected: Set<Int>) {
    for index in 0..<Int(context.pointee.nb_streams) {
      context.pointee.streams[index]?.pointee.discard = selected.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads the next packet of a selected stream; false at the end.
  package func read(into packet: borrowing Packet) throws(AVError) -> Bool {
    try interrupt.check()
    // libav takes an empty packet for granted here: what it held would leak.
    packet.unreference()
    let status = av_read_frame(context, packet.pointer)
    if status == cffmpeg_error_end() {
      // libav takes a damaged table and a failed read for the end: only the reader knows better.
      if let status = context.pointee.pb?.pointee.error, status < 0, status != cffmpeg_error_end() {
        throw AVError(status, "av_read_frame")
      }
      return false
    }
    try AVError.check(status, "av_read_frame")
    return true
  }
}

// At file scope, as every callback that C keeps.
private func refuseNestedOpen(
  _ context: UnsafeMutablePointer<AVFormatContext>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ url: UnsafePointer<CChar>?, _ flags: Int32, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  cffmpeg_error(EPERM)
}
