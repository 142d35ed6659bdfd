import AV
import Kernels

/// From 10-bit YUV codes to red, green and blue between 0 and 1 (ITU-R BT.2100-2, tables 6 and 9).
struct SignalDecoding {
  private let red: Double
  private let blue: Double
  private let luma: (offset: Double, span: Double)
  private let chromaSpan: Double

  init(matrix: ColorMatrix, isFullRange: Bool) {
    (red, blue) =
      switch matrix {
      case .bt709: (0.2126, 0.0722)
      case .bt601: (0.299, 0.114)
      case .bt2020: (0.2627, 0.0593)
      case .smpte240: (0.212, 0.087)
      case .fcc: (0.30, 0.11)
      }
    luma = isFullRange ? (0, 1023) : (64, 876)
    chromaSpan = isFullRange ? 1023 : 896
  }

  /// The luma code of black.
  var black: Double { luma.offset }

  /// What one code adds to each component.
  var steps: (luma: Double, redV: Double, greenU: Double, greenV: Double, blueU: Double) {
    let (redV, blueU) = (2 * (1 - red) / chromaSpan, 2 * (1 - blue) / chromaSpan)
    let green = 1 - red - blue
    return (1 / luma.span, redV, -blue * blueU / green, -red * redV / green, blueU)
  }

  func signal(of codes: ColorTable.Codes) -> SIMD3<Double> {
    let y = (codes.y - luma.offset) / luma.span
    let (u, v) = ((codes.u - 512) / chromaSpan, (codes.v - 512) / chromaSpan)
    let (r, b) = (y + 2 * (1 - red) * v, y + 2 * (1 - blue) * u)
    let g = (y - red * r - blue * b) / (1 - red - blue)
    return SIMD3(r, g, b).clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1))
  }
}
