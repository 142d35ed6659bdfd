internal import CFFmpeg

/// Reads from the headers of coded pictures in which order they are shown, without decoding them (`AVCodecParser`).
package struct PictureOrder: ~Copyable {
  private let parser: UnsafeMutablePointer<AVCodecParserContext>
  private let context: UnsafeMutablePointer<AVCodecContext>

  /// Nil if libavcodec has no parser for the stream's codec, or no memory.
  package init?(stream index: Int, of demuxer: borrowing Demuxer) {
    let parameters = demuxer.context.pointee.streams[index]?.pointee.codecpar
    let codec = parameters?.pointee.codec_id ?? AV_CODEC_ID_NONE
    let context = avcodec_alloc_context3(nil)
    let parser = av_parser_init(Int32(bitPattern: codec.rawValue))
    guard let parser, let context, avcodec_parameters_to_context(context, parameters) >= 0 else {
      av_parser_close(parser)
      CodecContext.free(context)
      return nil
    }
    parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
    self.parser = parser
    self.context = context
  }

  deinit {
    av_parser_close(parser)
    CodecContext.free(context)
  }

  /// The picture order count of the next packet in decoding order (ITU-T H.264, 8.2.1); it begins again at a key frame.
  package func count(of packet: borrowing Packet) -> Int {
    var data: UnsafeMutablePointer<UInt8>?
    var size: Int32 = 0
    let pointer = packet.pointer.pointee
    av_parser_parse2(parser, context, &data, &size, pointer.data, pointer.size, pointer.pts, pointer.dts, -1)
    return Int(parser.pointee.output_picture_number)
  }
}
