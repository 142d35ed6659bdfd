internal import CFFmpeg

/// The range, matrix, primaries and transfer characteristics of an image (ITU-T H.273).
package struct ColorDescription: Hashable, Sendable {
  private let rangeValue: UInt32
  private let matrixValue: UInt32
  private let primariesValue: UInt32
  private let transferValue: UInt32

  init(range: AVColorRange, matrix: AVColorSpace, primaries: AVColorPrimaries, transfer: AVColorTransferCharacteristic)
  {
    rangeValue = range.rawValue
    matrixValue = matrix.rawValue
    primariesValue = primaries.rawValue
    transferValue = transfer.rawValue
  }

  /// Creates a description from FFmpeg's names; unknown names become `unspecified`.
  package init(range: String, matrix: String, primaries: String, transfer: String) {
    rangeValue = UInt32(max(0, av_color_range_from_name(range)))
    matrixValue = Self.value(av_color_space_from_name(matrix), AVCOL_SPC_UNSPECIFIED.rawValue)
    primariesValue = Self.value(av_color_primaries_from_name(primaries), AVCOL_PRI_UNSPECIFIED.rawValue)
    transferValue = Self.value(av_color_transfer_from_name(transfer), AVCOL_TRC_UNSPECIFIED.rawValue)
  }

  private static func value(_ found: Int32, _ unspecified: UInt32) -> UInt32 { found < 0 ? unspecified : UInt32(found) }

  /// ITU-R BT.709 in limited range, the description of every output.
  package static let bt709 = ColorDescription(
    range: AVCOL_RANGE_MPEG, matrix: AVCOL_SPC_BT709, primaries: AVCOL_PRI_BT709, transfer: AVCOL_TRC_BT709)

  var rangeCode: AVColorRange { AVColorRange(rangeValue) }
  var matrixCode: AVColorSpace { AVColorSpace(matrixValue) }
  var primariesCode: AVColorPrimaries { AVColorPrimaries(primariesValue) }
  var transferCode: AVColorTransferCharacteristic { AVColorTransferCharacteristic(transferValue) }

  /// FFmpeg's names of the values; `unknown` for a value without a name.
  package var range: String { av_color_range_name(rangeCode).map { String(cString: $0) } ?? "unknown" }
  package var matrix: String { av_color_space_name(matrixCode).map { String(cString: $0) } ?? "unknown" }
  package var primaries: String { av_color_primaries_name(primariesCode).map { String(cString: $0) } ?? "unknown" }
  package var transfer: String { av_color_transfer_name(transferCode).map { String(cString: $0) } ?? "unknown" }

  /// Whether samples use the full range (0 to 255) rather than the limited one (16 to 235).
  package var isFullRange: Bool { rangeCode == AVCOL_RANGE_JPEG }
}

/// The coefficients between RGB and YUV that a conversion uses (libswscale's `SWS_CS_…` constants).
package enum ColorMatrix: String, Hashable, Sendable, CustomStringConvertible {
  case bt601, bt709, bt2020, smpte240, fcc

  /// The matrix of a colour description; if it is unspecified, players guess it from the height.
  package init(_ color: ColorDescription, height: Int) {
    switch color.matrixCode {
    case AVCOL_SPC_BT709: self = .bt709
    case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M: self = .bt601
    case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self = .bt2020
    case AVCOL_SPC_SMPTE240M: self = .smpte240
    case AVCOL_SPC_FCC: self = .fcc
    default: self = height >= 720 ? .bt709 : .bt601
    }
  }

  package var description: String { rawValue }

  var code: Int32 {
    switch self {
    case .bt601: SWS_CS_ITU601
    case .bt709: SWS_CS_ITU709
    case .bt2020: SWS_CS_BT2020
    case .smpte240: SWS_CS_SMPTE240M
    case .fcc: SWS_CS_FCC
    }
  }
}

/// A pixel format (libavutil/pixfmt.h).
package struct PixelFormat: Hashable, Sendable, CustomStringConvertible {
  let rawValue: Int32

  init(_ rawValue: Int32) { self.rawValue = rawValue }

  /// The format with this name in FFmpeg; `unknown` if there is none.
  package init(named name: String) { self.init(av_get_pix_fmt(name).rawValue) }

  var value: AVPixelFormat { AVPixelFormat(rawValue) }

  /// 8-bit 4:2:0.
  package static let yuv420p = PixelFormat(AV_PIX_FMT_YUV420P.rawValue)
  /// 8-bit 4:2:0 in full range (deprecated in FFmpeg).
  package static let yuvj420p = PixelFormat(AV_PIX_FMT_YUVJ420P.rawValue)
  /// 10-bit 4:2:0 in 16-bit little-endian words.
  package static let yuv420p10 = PixelFormat(AV_PIX_FMT_YUV420P10LE.rawValue)
  /// 8-bit red, green and blue, interleaved.
  package static let rgb24 = PixelFormat(AV_PIX_FMT_RGB24.rawValue)
  /// 8-bit blue, green, red and alpha, interleaved.
  package static let bgra = PixelFormat(AV_PIX_FMT_BGRA.rawValue)

  /// FFmpeg's name, such as `yuv420p`; `unknown` if it has none.
  package var description: String {
    av_get_pix_fmt_name(value).map { String(cString: $0) } ?? "unknown"
  }

  /// Whether the format is planar 4:2:0 YUV, at any bit depth.
  package var isPlanar420: Bool {
    guard let descriptor = av_pix_fmt_desc_get(value)?.pointee else { return false }
    return descriptor.nb_components == 3 && descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 1
      && descriptor.flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) != 0 && descriptor.flags & UInt64(AV_PIX_FMT_FLAG_RGB) == 0
  }

  /// The number of bits per sample of the first component; 0 if unknown.
  package var bitDepth: Int {
    Int(av_pix_fmt_desc_get(value)?.pointee.comp.0.depth ?? 0)
  }
}
