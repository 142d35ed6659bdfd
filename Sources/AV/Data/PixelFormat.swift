internal import CFFmpeg

/// How pixels lie in memory (libavutil/pixfmt.h).
package struct PixelFormat: Hashable, Sendable, CustomStringConvertible {
  let rawValue: Int32

  init(_ rawValue: Int32) { self.rawValue = rawValue }

  /// The format of this name in libav; `unknown` for any other.
  package init(named name: String) { self.init(av_get_pix_fmt(name).rawValue) }

  var value: AVPixelFormat { AVPixelFormat(rawValue) }

  /// 8-bit 4:2:0.
  package static let yuv420p = PixelFormat(AV_PIX_FMT_YUV420P.rawValue)
  /// 8-bit 4:2:0 in full range, by its old name.
  package static let yuvj420p = PixelFormat(AV_PIX_FMT_YUVJ420P.rawValue)
  /// 10-bit 4:2:0 in 16-bit words of this machine.
  package static let yuv420p10 = PixelFormat(AV_PIX_FMT_YUV420P10LE.rawValue)
  /// 8-bit red, green, blue, one after the other.
  package static let rgb24 = PixelFormat(AV_PIX_FMT_RGB24.rawValue)

  /// libav's name, `yuv420p`; `unknown` for none.
  package var description: String {
    av_get_pix_fmt_name(value).map { String(cString: $0) } ?? "unknown"
  }

  /// Whether it is YUV with chroma of half the width and height, at any depth, in planes.
  package var isPlanar420: Bool {
    guard let descriptor = av_pix_fmt_desc_get(value)?.pointee else { return false }
    return descriptor.nb_components == 3 && descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 1
      && descriptor.flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) != 0 && descriptor.flags & UInt64(AV_PIX_FMT_FLAG_RGB) == 0
  }

  /// Bits in a sample of the first component; 0 for none.
  package var bitDepth: Int {
    Int(av_pix_fmt_desc_get(value)?.pointee.comp.0.depth ?? 0)
  }
}
