import AV
import Kernels
import Model

/// The colour encoding of frames whose conversion to BT.709 needs more than another matrix and range.
struct ColorRendering: Hashable, Sendable {
  let transfer: TransferFunction
  let primaries: Primaries
  let matrix: ColorMatrix
  let isFullRange: Bool

  init(transfer: TransferFunction, primaries: Primaries, matrix: ColorMatrix, isFullRange: Bool) {
    self.transfer = transfer
    self.primaries = primaries
    self.matrix = matrix
    self.isFullRange = isFullRange
  }

  /// Nil for frames of standard dynamic range in BT.709 primaries: a scaler converts them.
  init?(_ facts: VideoFacts, matrix: ColorMatrix, isFullRange: Bool) {
    transfer = TransferFunction(facts.dynamicRange)
    // HDR without tagged primaries is BT.2020.
    primaries =
      facts.dynamicRange == .standard || facts.color.primaries != "unknown" ? Primaries(facts.color) : .bt2020
    self.matrix = matrix
    self.isFullRange = isFullRange
    if transfer == .standard && primaries == .bt709 { return nil }
  }

  /// The method, for the decision log.
  var summary: String {
    transfer == .standard
      ? "colours outside the BT.709 gamut clipped" : "tone-mapped, reference white at the white of SDR"
  }

  /// The mapping of 10-bit frames in this encoding to the outputs.
  func table(for output: ColorOutput = .video) -> ColorTable {
    let decoding = SignalDecoding(matrix: matrix, isFullRange: isFullRange)
    // The display's gamma of HLG depends on all three components, which only the table knows.
    if output == .video && transfer != .hybridLogGamma {
      let curve = ToneCurve(brightest: transfer.brightest)
      return ColorTable(
        GamutConversion(
          black: decoding.black, signal: decoding.steps, light: transfer.light, rows: primaries.toBT709,
          shown: transfer == .standard ? nil : { curve.shown($0) }, signals: TransferFunction.standardSignal))
    }
    let map = mapping(for: output)
    return ColorTable { codes in output.codes(of: map(decoding.signal(of: codes))) }
  }

  /// Converts 16-bit RGB in this encoding to the encoding of the outputs.
  func converted(_ colors: [UInt16], for output: ColorOutput) -> [UInt16] {
    let map = mapping(for: output)
    var converted: [UInt16] = []
    converted.reserveCapacity(colors.count)
    for index in stride(from: 0, to: colors.count - 2, by: 3) {
      let signal = map(
        SIMD3(Double(colors[index]), Double(colors[index + 1]), Double(colors[index + 2])) / 65535)
      for component in 0..<3 { converted.append(UInt16((signal[component] * 65535).rounded())) }
    }
    return converted
  }

  /// The mapping of red, green and blue between 0 and 1 in this encoding to the values of the outputs.
  func mapping(for output: ColorOutput) -> SignalMapping { SignalMapping(self, to: output) }
}

/// Decodes 10-bit YUV codes to red, green and blue between 0 and 1 (ITU-R BT.2100-2, tables 6 and 9).
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

  /// The contribution of one code step to each component.
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
