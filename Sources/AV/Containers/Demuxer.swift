internal import CFFmpeg
package import Platform

/// Reads the packets of a clip from an open file.
///
/// FFmpeg does not probe the format, has no protocol available, and cannot open other files that the file refers to.
package struct Demuxer: ~Copyable {
  let context: UnsafeMutablePointer<AVFormatContext>
  private let reader: FileContext
  private let interrupt: Interrupt
  /// The properties of the streams as the headers state them, by stream index.
  package let streams: [StreamInfo]

  /// The formats of containers, each with a demuxer of FFmpeg.
  package enum Format: Sendable, Hashable {
    /// MOV, MP4 and 3GP.
    case isoBaseMedia
    case webM

    /// One of the names of the demuxer, and all of them, with which `format_whitelist` is compared.
    fileprivate var names: (short: String, full: String) {
      switch self {
      case .isoBaseMedia: ("mov", "mov,mp4,m4a,3gp,3g2,mj2")
      case .webM: ("matroska", "matroska,webm")
      }
    }

    /// The options of the demuxer.
    fileprivate var options: [(String, String)] {
      switch self {
      case .isoBaseMedia: [("enable_drefs", "0"), ("use_absolute_path", "0")]
      case .webM: []
      }
    }
  }

  /// Reads the headers.
  ///
  /// - Parameters:
  ///   - file: is read with `pread`, so that several demuxers may share it.
  ///   - format: decides which demuxer reads it; no other one does.
  ///   - interrupt: FFmpeg polls it while it reads.
  package init(
    reading file: OpenFile, as format: Format = .isoBaseMedia, limits: DemuxerLimits, interrupt: Interrupt
  ) throws(AVError) {
    try interrupt.check()
    let reader = try FileContext(file)
    var context = avformat_alloc_context()
    guard let allocated = context else { throw .outOfMemory("avformat_alloc_context") }
    allocated.pointee.pb = reader.context
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    allocated.pointee.io_open = refuseNestedOpen
    allocated.pointee.interrupt_callback = interrupt.callback
    allocated.pointee.max_streams = Int32(limits.streams)
    allocated.pointee.max_probe_packets = DemuxerLimits.maxProbePackets
    allocated.pointee.probesize = DemuxerLimits.maxProbeBytes
    allocated.pointee.max_analyze_duration = DemuxerLimits.maxProbeMicroseconds
    var options = Options(
      [
        ("format_whitelist", format.names.full), ("protocol_whitelist", ""),
        ("codec_whitelist", limits.codecs.map(Decoder.name(ofCodec:)).joined(separator: ",")),
      ] + format.options)
    // On failure this frees the context and sets it to nil.
    try AVError.check(
      avformat_open_input(&context, nil, av_find_input_format(format.names.short), &options.pointer),
      "avformat_open_input")
    guard let context else { throw .outOfMemory("avformat_open_input") }
    self.context = context
    self.reader = reader
    self.interrupt = interrupt
    streams = (0..<Int(context.pointee.nb_streams)).compactMap { index in
      context.pointee.streams[index].map { StreamInfo($0, of: format) }
    }
  }

  deinit {
    var context: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&context)
    withExtendedLifetime((reader, interrupt)) {}
  }

  /// The duration in seconds that the headers state; nil if they do not, and of MOV and MP4 from libavformat 61 on, whose demuxer leaves
  /// it to an analysis of the packets.
  package var duration: Double? {
    Timestamp.known(context.pointee.duration).map { Double($0) / Double(AV_TIME_BASE) }
  }

  /// Whether a read from the file failed; the file itself may be valid.
  package var readFailed: Bool { reader.readFailed }

  /// The number of packets of a stream in the index entries read so far; at the end of the file, of all its packets.
  package func indexedPackets(of stream: Int) -> Int {
    context.pointee.streams[stream].map { Int(avformat_index_get_entries_count($0)) } ?? 0
  }

  /// Selects the streams to read from now on; the data of other streams are skipped.
  package func select(_ selected: Set<Int>) {
    for index in 0..<Int(context.pointee.nb_streams) {
      context.pointee.streams[index]?.pointee.discard = selected.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads the next packet of a selected stream. Returns false at the end of the file.
  package func read(into packet: borrowing Packet) throws(AVError) -> Bool {
    try interrupt.check()
    // av_read_frame expects an empty packet: data that the packet still refers to would leak.
    packet.unreference()
    let status = av_read_frame(context, packet.pointer)
    if status == cffmpeg_error_end() {
      // FFmpeg reports a damaged table or a failed read as the end of the file; the I/O context has the actual error.
      if let status = context.pointee.pb?.pointee.error, status < 0, status != cffmpeg_error_end() {
        throw AVError(status, "av_read_frame")
      }
      return false
    }
    try AVError.check(status, "av_read_frame")
    return true
  }
}

private func refuseNestedOpen(
  _ context: UnsafeMutablePointer<AVFormatContext>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ url: UnsafePointer<CChar>?, _ flags: Int32, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  cffmpeg_error(EPERM)
}

/// The limits that a demuxer enforces on untrusted files.
package struct DemuxerLimits: Hashable, Sendable {
  /// The maximum number of streams.
  package var streams: Int
  /// The codecs that may be decoded, by FFmpeg's names.
  package var codecs: [String]

  // What FFmpeg may read to analyse the streams. The demuxer of MOV reads only the headers, without this.
  fileprivate static let maxProbeBytes: Int64 = 5 << 20
  fileprivate static let maxProbePackets: Int32 = 256
  fileprivate static let maxProbeMicroseconds: Int64 = 1_000_000

  package init(streams: Int, codecs: [String]) {
    self.streams = streams
    self.codecs = codecs
  }
}
