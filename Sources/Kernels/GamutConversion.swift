internal import CKernels

/// How 10-bit YUV codes of one gamut become 8-bit BT.709 in limited range, computed for each colour as it comes.
///
/// A table between whose nodes colours are interpolated cannot do this: next to the edge of a gamut one component of the
/// light is nearly none, where a signal is steepest.
package struct GamutConversion: Sendable {
  private let light: [Int32]
  private let dark: [UInt16]
  private let bright: [UInt16]
  private let numbers: ckernels_gamut

  /// - Parameters:
  ///   - black: the luma code of black.
  ///   - signal: what one code of luma adds to each component, 0 to 1, and of chroma: of V to red, of U and V to green, of
  ///     U to blue.
  ///   - light: of a signal; both 0 to 1.
  ///   - rows: light in the gamut of the source as light in that of BT.709.
  ///   - signals: the signal of a light in the outputs.
  package init(
    black: Double, signal: (luma: Double, redV: Double, greenU: Double, greenV: Double, blueU: Double),
    light: (Double) -> Double, rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>), signals: (Double) -> Double
  ) {
    let nodes = Int(CKERNELS_LIGHT_NODES)
    let entries = Int(CKERNELS_SIGNAL_NODES)
    self.light = (0...nodes + 1).map { Int32((light(min(Double($0) / Double(nodes), 1)) * Self.fullLight).rounded()) }
    dark = (0...entries).map { UInt16((signals(Double($0) / Self.fullLight) * Self.fullSignal).rounded()) }
    bright = (0...entries).map { UInt16((signals(Double($0) / Double(entries)) * Self.fullSignal).rounded()) }
    func fixed(_ value: Double) -> Int32 { Int32((value * 65_536).rounded()) }
    var numbers = ckernels_gamut()
    numbers.black = Int32(black.rounded())
    numbers.luma = fixed(signal.luma * 256)
    numbers.red_v = fixed(signal.redV * 256)
    numbers.green_u = fixed(signal.greenU * 256)
    numbers.green_v = fixed(signal.greenV * 256)
    numbers.blue_u = fixed(signal.blueU * 256)
    numbers.rows = (
      fixed(rows.0.x), fixed(rows.0.y), fixed(rows.0.z), fixed(rows.1.x), fixed(rows.1.y), fixed(rows.1.z),
      fixed(rows.2.x), fixed(rows.2.y), fixed(rows.2.z)
    )
    // ITU-R BT.709-6, items 3.2 to 3.5. The three of a chroma add up to nothing, so that grey stays grey.
    let (red, green, blue) = (0.2126, 0.7152, 0.0722)
    numbers.to_y = (fixed(219 * red), fixed(219) - fixed(219 * red) - fixed(219 * blue), fixed(219 * blue))
    let (u, v) = (224 / 1.8556, 224 / 1.5748)
    numbers.to_u = (fixed(-u * red), -fixed(-u * red) - fixed(u * (red + green)), fixed(u * (red + green)))
    numbers.to_v = (fixed(v * (green + blue)), -fixed(v * (green + blue)) - fixed(-v * blue), fixed(-v * blue))
    self.numbers = numbers
  }

  private static let fullLight = Double(1 << 20)
  private static let fullSignal = Double(1 << 14)

  /// Converts a picture of an even size.
  func convert(_ source: ckernels_planes10, into target: ckernels_planes8, width: Int, height: Int) {
    var (source, target, numbers) = (source, target, numbers)
    ckernels_convert_gamut(&source, &target, width, height, &numbers, light, dark, bright)
  }
}
