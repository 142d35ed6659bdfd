import AV
import SeededRandom
import Testing

@testable import Media

@Suite("Rows of high dynamic range")
struct HighDynamicRangeRowsTests {
  /// Every grey opaque, then colours of all kinds under any alpha.
  private static let pixels: [UInt16] = {
    var random = SplitMix64(seed: 11)
    var pixels: [UInt16] = (UInt16.min...UInt16.max).flatMap { [$0, $0, $0, UInt16.max] }
    for _ in 0..<40_000 {
      let bits = random.next()
      pixels += (0..<4).map { UInt16(truncatingIfNeeded: bits >> (16 * $0)) }
    }
    for alpha in [0, 1, 128, 32768, 65534, 65535] as [UInt16] {
      for color in [[0, 0, 0], [65535, 0, 0], [0, 65535, 1], [65535, 65535, 65535]] as [[UInt16]] {
        pixels += color + [alpha]
      }
    }
    return pixels
  }()

  @Test(
    "have the codes that the formula gives, rounded",
    arguments: [TransferFunction.perceptualQuantizer, .hybridLogGamma],
    [(Primaries.bt2020, false, false), (.p3, false, false), (.bt709, true, false), (.bt2020, false, true)])
  func formula(transfer: TransferFunction, kind: (primaries: Primaries, isPremultiplied: Bool, expandsGrey: Bool)) {
    let mapping = ColorRendering(
      transfer: transfer, primaries: kind.primaries, matrix: .bt2020, isFullRange: true
    ).mapping(for: .photo)
    let rows = HighDynamicRangeRows(
      mapping: mapping, isPremultiplied: kind.isPremultiplied, expandsGrey: kind.expandsGrey)
    let count = Self.pixels.count / 4
    let found = [UInt8](unsafeUninitializedCapacity: 4 * count) { target, written in
      guard let base = target.baseAddress else { return }
      rows.map(Self.pixels, into: base, count: count)
      written = 4 * count
    }
    var differences = 0
    for x in stride(from: 0, to: 4 * count, by: 4) {
      let alpha = Double(Self.pixels[x + 3])
      var signal = SIMD3(Double(Self.pixels[x]), Double(Self.pixels[x + 1]), Double(Self.pixels[x + 2]))
      signal /= kind.isPremultiplied && alpha > 0 ? alpha : 65535
      if kind.expandsGrey { signal = (signal * 255 - 16) / 219 }
      let shown = mapping(signal.clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1)))
      let expected = (0..<3).map { UInt8((shown[$0] * 255).rounded()) } + [UInt8((alpha / 257).rounded())]
      if found[x..<x + 4] != expected[...] { differences += 1 }
    }
    #expect(differences == 0)
  }

  @Test("codes of light begin where their function has them first, also if it has steps or leaves codes out")
  func codes() {
    let functions: [(Double) -> UInt8] = [
      { _ in 0 }, { _ in 255 }, { UInt8($0 * 255) }, { UInt8(($0 * 255).rounded()) }, { $0 < 0.3 ? 3 : 200 },
      { UInt8(($0.squareRoot() * 255).rounded()) },
    ]
    for (index, code) in functions.enumerated() {
      let codes = LightCodes(code)
      for step in 0...100_000 {
        let light = Double(step) / 100_000
        if codes[light] != code(light) { Issue.record("function \(index) at \(light): \(codes[light])") }
      }
      for light in [0, 0.3.nextDown, 0.3, 1.0.nextDown, 1] { #expect(codes[light] == code(light)) }
    }
  }
}
