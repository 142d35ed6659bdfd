import AV
import Kernels
import Model

/// What a picture's numbers mean, as far as it takes more than another matrix and range to show it in BT.709.
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

  /// Nil for pictures of standard dynamic range in primaries like ours: a scaler converts the rest.
  init?(_ facts: VideoFacts, matrix: ColorMatrix, isFullRange: Bool) {
    transfer = TransferFunction(facts.dynamicRange)
    // A camera that writes HDR means its primaries, whether it says so or not.
    primaries =
      facts.dynamicRange == .standard || facts.color.primaries != "unknown" ? Primaries(facts.color) : .bt2020
    self.matrix = matrix
    self.isFullRange = isFullRange
    if transfer == .standard && primaries == .bt709 { return nil }
  }

  /// What is done, for the decision log.
  var summary: String {
    transfer == .standard
      ? "what lies outside of the gamut of BT.709 clipped" : "tone-mapped, reference white at the white of SDR"
  }

  /// How an output's numbers mean the colours that are shown: red, green and blue between 0 and 1 as its codes.
  typealias Encoding = (SIMD3<Double>) -> ColorTable.Codes

  /// The mapping of 10-bit pictures of this kind to those of the outputs.
  ///
  /// - Parameter encoding: of the outputs; nil: of video.
  func table(_ encoding: Encoding? = nil) -> ColorTable {
    let decoding = SignalDecoding(matrix: matrix, isFullRange: isFullRange)
    if transfer == .standard && encoding == nil {
      return ColorTable(
        GamutConversion(
          black: decoding.black, signal: decoding.steps, light: transfer.light, rows: primaries.toBT709,
          signals: TransferFunction.standardSignal))
    }
    let encoding = encoding ?? Self.videoCodes
    let lights = SampledFunction { transfer.light(of: $0) }
    // Spread by the root, where the curve is nearly straight.
    let signals = SampledFunction { TransferFunction.standardSignal(of: $0 * $0) }
    let curve = ToneCurve(brightest: transfer.brightest)
    let rows = primaries.toBT709
    let weights = primaries.luminance
    return ColorTable { codes in
      let signal = decoding.signal(of: codes)
      let scene = SIMD3(lights[signal.x], lights[signal.y], lights[signal.z])
      let light = scene * transfer.displayGain(luminance: (scene * weights).sum())
      let wide = SIMD3((rows.0 * light).sum(), (rows.1 * light).sum(), (rows.2 * light).sum())
      let shown = Self.shown(wide, curve)
      return encoding(
        SIMD3(signals[shown.x.squareRoot()], signals[shown.y.squareRoot()], signals[shown.z.squareRoot()]))
    }
  }

  /// Brings light into what BT.709 can show: the brightest component by the curve, the others in proportion, so that
  /// the hue stays; what lies outside of its gamut then is clipped (ITU-R BT.2407-0, clause 2).
  private static func shown(_ light: SIMD3<Double>, _ curve: ToneCurve) -> SIMD3<Double> {
    let brightest = light.max()
    guard brightest > 0 else { return SIMD3(repeating: 0) }
    let shown = light * (curve.shown(brightest) / brightest)
    return shown.clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1))
  }

  /// 8-bit BT.709 in limited range (ITU-R BT.709-6, items 3.2 to 3.5).
  private static func videoCodes(_ signal: SIMD3<Double>) -> ColorTable.Codes {
    let luma = (signal * Primaries.bt709.luminance).sum()
    return ColorTable.Codes(
      y: 16 + 219 * luma, u: 128 + 224 * (signal.z - luma) / 1.8556, v: 128 + 224 * (signal.x - luma) / 1.5748)
  }

  /// 8-bit YCbCr in full range, as JPEG files have it (JFIF 1.02).
  static func photoCodes(_ signal: SIMD3<Double>) -> ColorTable.Codes {
    let luma = (signal * SIMD3(0.299, 0.587, 0.114)).sum()
    return ColorTable.Codes(
      y: 255 * luma, u: 128 + 255 * (signal.z - luma) / 1.772, v: 128 + 255 * (signal.x - luma) / 1.402)
  }
}
