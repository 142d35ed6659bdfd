internal import CFFmpeg

/// The coefficients between RGB and YUV that a conversion uses (libswscale's SWS_CS constants).
package enum ColorMatrix: String, Hashable, Sendable, CustomStringConvertible {
  case bt601, bt709, bt2020, smpte240, fcc

  /// The matrix that a picture means; where it does not say, by its height, as every player guesses.
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
