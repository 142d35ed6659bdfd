internal import CFFmpeg
package import Platform

/// Writes an MP4 or QuickTime file with its index (`moov`) in front; for tests, also a WebM.
///
/// The same packets give the same bytes, and no metadata of a source is copied. Add streams, call `start()`, write
/// packets roughly in the order of their decoding times, and call `finish()`.
package struct Muxer: ~Copyable {
  /// The file formats, by FFmpeg's names.
  package enum Format: String, Sendable {
    case mp4, mov, webm

    /// The options of the muxer.
    fileprivate var options: [(String, String)] {
      switch self {
      case .mp4, .mov: [("movflags", "+faststart"), ("use_editlist", "1")]
      case .webm: []
      }
    }
  }

  private let context: UnsafeMutablePointer<AVFormatContext>
  private let writer: FileContext
  private let reopener: Reopener
  private let format: Format

  /// Creates a muxer that writes from the beginning of the file, which must be empty.
  package init(writing file: OpenFile, format: Format = .mp4) throws(AVError) {
    let writer = try FileContext(file, writes: true)
    let reopener = Reopener(file)
    var context: UnsafeMutablePointer<AVFormatContext>?
    try AVError.check(
      avformat_alloc_output_context2(&context, nil, format.rawValue, nil), "avformat_alloc_output_context2")
    guard let context else { throw .outOfMemory("avformat_alloc_output_context2") }
    self.context = context
    self.writer = writer
    self.reopener = reopener
    self.format = format
    context.pointee.pb = writer.context
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
    // To move the index to the front, the muxer reopens its file.
    reopener.install(on: context)
  }

  deinit {
    // The writer frees its own context.
    context.pointee.pb = nil
    avformat_free_context(context)
    withExtendedLifetime((writer, reopener)) {}
  }

  /// Adds a stream for packets copied from a demuxer. The display matrix is copied, metadata are not.
  ///
  /// - Parameter configuration: the decoder configuration (`extradata`); nil to copy the source's.
  /// - Returns: the index of the stream in this muxer.
  package func addStream(
    copying index: Int, of demuxer: borrowing Demuxer, configuration: [UInt8]? = nil
  ) throws(AVError) -> Int {
    guard let source = demuxer.context.pointee.streams[index] else {
      throw AVError(cffmpeg_error(EINVAL), "avformat_new_stream")
    }
    let stream = try newStream()
    try AVError.check(
      avcodec_parameters_copy(stream.pointee.codecpar, source.pointee.codecpar), "avcodec_parameters_copy")
    if let configuration { try setConfiguration(configuration, of: stream) }
    // The codec tag of the source's container may be invalid in this one.
    stream.pointee.codecpar.pointee.codec_tag = 0
    stream.pointee.time_base = source.pointee.time_base
    stream.pointee.sample_aspect_ratio = source.pointee.sample_aspect_ratio
    stream.pointee.avg_frame_rate = source.pointee.avg_frame_rate
    if let matrix = demuxer.streams[index].displayMatrix { try setDisplayMatrix(matrix, of: stream) }
    return Int(stream.pointee.index)
  }

  /// Adds a stream for the packets of a video encoder.
  package func addStream(of encoder: borrowing VideoEncoder, displayMatrix: [Int32]? = nil) throws(AVError) -> Int {
    let index = try addStream(codec: encoder.context)
    if let displayMatrix, let stream = context.pointee.streams[index] {
      try setDisplayMatrix(displayMatrix, of: stream)
    }
    return index
  }

  /// Adds a stream for the packets of an audio encoder.
  package func addStream(of encoder: borrowing AudioEncoder) throws(AVError) -> Int {
    try addStream(codec: encoder.context)
  }

  /// Writes the file header.
  package func start() throws(AVError) {
    var options = Options(format.options)
    try AVError.check(avformat_write_header(context, &options.pointer), "avformat_write_header")
    if let name = options.unconsumed { throw AVError(cffmpeg_error(EINVAL), "avformat_write_header", subject: name) }
  }

  /// The time base of a stream, valid after `start()`.
  package func timeBase(of stream: Int) -> Rational {
    context.pointee.streams[stream].map { Rational($0.pointee.time_base) } ?? Rational(0, 1)
  }

  /// Writes a packet, interleaved with the packets of other streams by decoding time. The packet is empty afterwards.
  ///
  /// - Parameter timeBase: the time base of the packet's timestamps.
  package func write(_ packet: borrowing Packet, to stream: Int, timeBase: Rational) throws(AVError) {
    packet.pointer.pointee.stream_index = Int32(stream)
    packet.pointer.pointee.pos = -1
    av_packet_rescale_ts(packet.pointer, timeBase.value, self.timeBase(of: stream).value)
    try AVError.check(av_interleaved_write_frame(context, packet.pointer), "av_interleaved_write_frame")
  }

  /// Writes the index and moves it to the front. The file is complete afterwards.
  package func finish() throws(AVError) {
    try AVError.check(av_write_trailer(context), "av_write_trailer")
    avio_flush(context.pointee.pb)
    if let status = context.pointee.pb?.pointee.error { try AVError.check(status, "avio_flush") }
  }

  private func addStream(codec: UnsafeMutablePointer<AVCodecContext>) throws(AVError) -> Int {
    let stream = try newStream()
    try AVError.check(
      avcodec_parameters_from_context(stream.pointee.codecpar, codec), "avcodec_parameters_from_context")
    stream.pointee.time_base = codec.pointee.time_base
    stream.pointee.sample_aspect_ratio = codec.pointee.sample_aspect_ratio
    stream.pointee.avg_frame_rate = codec.pointee.framerate
    return Int(stream.pointee.index)
  }

  private func newStream() throws(AVError) -> UnsafeMutablePointer<AVStream> {
    guard let stream = avformat_new_stream(context, nil) else { throw .outOfMemory("avformat_new_stream") }
    return stream
  }

  private func setConfiguration(
    _ configuration: [UInt8], of stream: UnsafeMutablePointer<AVStream>
  ) throws(AVError) {
    // FFmpeg's bit readers may read beyond the end.
    let count = configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
    guard let memory = av_mallocz(count) else { throw .outOfMemory("av_mallocz") }
    UnsafeMutableRawBufferPointer(start: memory, count: count).copyBytes(from: configuration)
    av_freep(&stream.pointee.codecpar.pointee.extradata)
    stream.pointee.codecpar.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
    stream.pointee.codecpar.pointee.extradata_size = Int32(configuration.count)
  }

  private func setDisplayMatrix(_ matrix: [Int32], of stream: UnsafeMutablePointer<AVStream>) throws(AVError) {
    let count = matrix.count * MemoryLayout<Int32>.size
    guard let data = cffmpeg_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, count) else {
      throw .outOfMemory("av_packet_side_data_new")
    }
    matrix.withUnsafeBytes { UnsafeMutableRawPointer(data).copyMemory(from: $0.baseAddress!, byteCount: count) }
  }
}
