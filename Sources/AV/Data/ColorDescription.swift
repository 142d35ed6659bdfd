internal import CFFmpeg

/// How the numbers of a picture mean colours (ITU-T H.273).
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

  /// The description of these names in libav; what it does not know is unspecified.
  package init(range: String, matrix: String, primaries: String, transfer: String) {
    rangeValue = UInt32(max(0, av_color_range_from_name(range)))
    matrixValue = Self.value(av_color_space_from_name(matrix), AVCOL_SPC_UNSPECIFIED.rawValue)
    primariesValue = Self.value(av_color_primaries_from_name(primaries), AVCOL_PRI_UNSPECIFIED.rawValue)
    transferValue = Self.value(av_color_transfer_from_name(transfer), AVCOL_TRC_UNSPECIFIED.rawValue)
  }

  private static func value(_ found: Int32, _ unspecified: UInt32) -> UInt32 { found < 0 ? unspecified : UInt32(found) }

  /// ITU-R BT.709 in limited range: what every output of ours is.
  package static let bt709 = ColorDescription(
    range: AVCOL_RANGE_MPEG, matrix: AVCOL_SPC_BT709, primaries: AVCOL_PRI_BT709, transfer: AVCOL_TRC_BT709)

  var rangeCode: AVColorRange { AVColorRange(rangeValue) }
  var matrixCode: AVColorSpace { AVColorSpace(matrixValue) }
  var primariesCode: AVColorPrimaries { AVColorPrimaries(primariesValue) }
  var transferCode: AVColorTransferCharacteristic { AVColorTransferCharacteristic(transferValue) }

  /// libav's names; `unknown` where the file does not say.
  package var range: String { av_color_range_name(rangeCode).map { String(cString: $0) } ?? "unknown" }
  package var matrix: String { av_color_space_name(matrixCode).map { String(cString: $0) } ?? "unknown" }
  package var primaries: String { av_color_primaries_name(primariesCode).map { String(cString: $0) } ?? "unknown" }
  package var transfer: String { av_color_transfer_name(transferCode).map { String(cString: $0) } ?? "unknown" }

  /// Whether samples use all values (0 to 255) rather than 16 to 235.
  package var isFullRange: Bool { rangeCode == AVCOL_RANGE_JPEG }
}
