/// Maps red, green and blue between 0 and 1 from the encoding of an image to an output's, prepared once for any number of pixels.
///
/// It computes with numbers instead of vectors: the standard library's minimum and maximum of vectors are calls.
struct SignalMapping: Sendable {
  /// Red, green and blue.
  typealias Components = (red: Double, green: Double, blue: Double)

  private let transfer: TransferFunction
  private let rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)
  private let weights: SIMD3<Double>
  private let curve: ToneCurve
  private let lights: SampledFunction
  // Over the square root of light, over which the function is nearly linear.
  private let signals: SampledFunction

  init(_ rendering: ColorRendering, to output: ColorOutput) {
    transfer = rendering.transfer
    rows = rendering.primaries.toBT709
    weights = rendering.primaries.luminance
    curve = ToneCurve(brightest: rendering.transfer.brightest)
    lights = SampledFunction { rendering.transfer.light(of: $0) }
    signals = SampledFunction { output.signal(of: $0 * $0) }
  }

  func callAsFunction(_ signal: SIMD3<Double>) -> SIMD3<Double> {
    let light = shown(scene(signal.x, signal.y, signal.z))
    return SIMD3(
      signals[light.red.squareRoot()], signals[light.green.squareRoot()], signals[light.blue.squareRoot()])
  }

  /// The light of three signals, before the display's gamma.
  func scene(_ red: Double, _ green: Double, _ blue: Double) -> Components {
    (lights[red], lights[green], lights[blue])
  }

  /// That of each 16-bit sample.
  var sampleLights: [Double] { (0...65535).map { lights[Double($0) / 65535] } }

  /// Maps light before the display's gamma into the range of BT.709, 0 to 1: the brightest component by the curve, the others in
  /// proportion, which preserves the hue. Components outside the gamut are then clipped (ITU-R BT.2407-0, clause 2).
  @inline(__always)
  func shown(_ scene: Components) -> Components {
    let gain = transfer.displayGain(luminance: Self.sum(weights, scene))
    let light = (red: scene.red * gain, green: scene.green * gain, blue: scene.blue * gain)
    let wide = (red: Self.sum(rows.0, light), green: Self.sum(rows.1, light), blue: Self.sum(rows.2, light))
    let brightest = max(wide.red, wide.green, wide.blue)
    guard brightest > 0 else { return (0, 0, 0) }
    let share = curve.shown(brightest) / brightest
    return (min(max(wide.red * share, 0), 1), min(max(wide.green * share, 0), 1), min(max(wide.blue * share, 0), 1))
  }

  @inline(__always)
  private static func sum(_ weights: SIMD3<Double>, _ light: Components) -> Double {
    weights.x * light.red + weights.y * light.green + weights.z * light.blue
  }

  /// The 8-bit codes of what `shown` returns.
  var codes: LightCodes { LightCodes { UInt8((signals[$0.squareRoot()] * 255).rounded()) } }
}

/// The 8-bit codes of light of 0 to 1, by the least light of each: without a root and without rounding.
struct LightCodes: Sendable {
  private static let steps = 4096.0
  /// The least light of each code, with one more that no light reaches.
  private let least: [Double]
  /// The code at the beginning of each step.
  private let first: [UInt8]

  /// - Parameter code: a function over 0 to 1 that does not decrease.
  init(_ code: (Double) -> UInt8) {
    least = (UInt8.min...UInt8.max).map { Self.least($0, code) } + [.infinity]
    first = (0...4096).map { code(Double($0) / Self.steps) }
  }

  @inline(__always)
  subscript(_ light: Double) -> UInt8 {
    var code = Int(first[Int(light * Self.steps)])
    // Ends: no light reaches the last one.
    while light >= least[code + 1] { code += 1 }
    return UInt8(truncatingIfNeeded: code)
  }

  // Numbers that are not negative are ordered like their bits.
  private static func least(_ wanted: UInt8, _ code: (Double) -> UInt8) -> Double {
    guard code(0) < wanted else { return 0 }
    guard code(1) >= wanted else { return .infinity }
    var (below, above) = (0.0.bitPattern, 1.0.bitPattern)
    while above - below > 1 {
      let middle = below + (above - below) / 2
      if code(Double(bitPattern: middle)) < wanted { below = middle } else { above = middle }
    }
    return Double(bitPattern: above)
  }
}

/// A function over 0 to 1, sampled once and interpolated linearly.
struct SampledFunction: Sendable {
  private static let steps = 4096
  private let samples: [Double]

  init(_ function: (Double) -> Double) {
    samples = (0...Self.steps).map { function(Double($0) / Double(Self.steps)) }
  }

  subscript(_ argument: Double) -> Double {
    let position = argument * Double(Self.steps)
    let index = min(Int(position), Self.steps - 1)
    let fraction = position - Double(index)
    return samples[index] + (samples[index + 1] - samples[index]) * fraction
  }
}
