import AV
import Kernels
import MediaFixtures
import Model
import SeededRandom
import Testing

@testable import Media

@Suite("High dynamic range", .tags(.media))
struct HighDynamicRangeTests {
  /// A clip of grey stripes with the given 10-bit codes in limited range.
  static func clip(_ stripes: [UInt16], transfer: String) -> MarkedClip {
    var clip = MarkedClip(.red, width: 360, height: 640, codec: .hevc10)
    clip.stripes = stripes
    clip.tags = ColorDescription(range: "tv", matrix: "bt2020nc", primaries: "bt2020", transfer: transfer)
    return clip
  }

  static func code(_ signal: Double) -> UInt16 { UInt16((64 + 876 * signal).rounded()) }

  // ITU-R BT.2408-7, table 1: the signals of both systems for black, 18 % grey, reference white and peak.
  static let systems: [(transfer: String, signals: [Double])] = [
    ("arib-std-b67", [0, 0.38, 0.75, 1]), ("smpte2084", [0, 0.38, 0.58, 0.7518]),
  ]

  @Test("greys keep their SDR level and stay neutral, and the brightest light becomes white", arguments: systems)
  func greys(transfer: String, signals: [Double]) throws {
    var definition = try MomentRun.definition(width: 360, height: 640)
    definition.outputs[.thumbnailBack]?.still?.longEdge = 640
    let run = try MomentRun(
      front: MarkedClip(.green).write(), back: Self.clip(signals.map(Self.code), transfer: transfer).write(),
      definition: definition)
    #expect(run.codes == [])
    #expect(run.choices(.color).contains { $0.contains("tone-mapped") })
    let still = try StillImage(run.bytes(.thumbnailBack))
    for (index, expected) in [(0, 0.0...0.01), (1, 0.38...0.46), (2, 0.9...0.98), (3, 0.99...1.0)] {
      let x = (Double(index) + 0.5) / 4
      let pixel = try #require(try run.video(.composed).firstFrame(atX: x, y: 0.9))
      let signal = (Double(pixel.y) - 16) / 219
      #expect(expected.contains((signal * 1000).rounded() / 1000), "signal \(signals[index]) became \(signal)")
      #expect(abs(Int(pixel.u) - 128) <= 1 && abs(Int(pixel.v) - 128) <= 1)
      // Stills show the same frames.
      #expect(abs(still.luma(atX: x, y: 0.9) - Int(255 * signal)) <= 4)
    }
  }

  @Test("the tone curve is the identity below its knee, does not decrease, and ends at white")
  func curve() {
    let curve = ToneCurve(brightest: 1000.0 / 203)
    #expect(curve.shown(0.5) == 0.5)
    let shown = stride(from: 0.0, through: 5, by: 0.01).map(curve.shown)
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(abs((shown.last ?? 0) - 1) < 1e-9)
    #expect(ToneCurve(brightest: 1).shown(0.95) == 0.95)
  }

  @Test(
    "saturated colours follow the formula: 95 of 100 within two and a half codes, and in the mean within three quarters",
    arguments: [DynamicRange.hybridLogGamma, .perceptualQuantizer])
  func saturated(range: DynamicRange) throws {
    let rendering = ColorRendering(
      transfer: TransferFunction(range), primaries: .bt2020, matrix: .bt2020, isFullRange: false)
    // A square of two by two pixels for each colour. Many lie at the edge of BT.2020, where a component has no light.
    let edge = 64
    var random = SplitMix64(seed: 14)
    let signals = (0..<edge * edge).map { _ in
      var next: Double { max(0, Double.random(in: -0.3...1, using: &random)) }
      return SIMD3(next, next, next)
    }
    let source = try Frame(width: 2 * edge, height: 2 * edge, format: .yuv420p10)
    var colors: [UInt16] = []
    for (index, signal) in signals.enumerated() {
      let luma = (signal * Primaries.bt2020.luminance).sum()
      let codes = [
        64 + 876 * luma, 512 + 896 * (signal.z - luma) / 1.8814, 512 + 896 * (signal.x - luma) / 1.4746,
      ].map { UInt16($0.rounded()) }
      for plane in 0..<3 { Self.fill(source, plane, square: index, of: edge, codes[plane]) }
      // What the codes say, without the signal's own rounding.
      let decoded = SignalDecoding(matrix: .bt2020, isFullRange: false).signal(
        of: .init(y: Double(codes[0]), u: Double(codes[1]), v: Double(codes[2])))
      for component in 0..<3 { colors.append(UInt16((decoded[component] * 65535).rounded())) }
    }
    let target = ImageBuffer(width: 2 * edge, height: 2 * edge)
    rendering.table().map(source.tenBitPlanes(from: (0, 0)), into: target.imagePlanes)
    let exact = rendering.converted(colors, for: .video).map { Double($0) / 65535 }
    var errors: [Double] = []
    for index in signals.indices {
      let (x, y) = (index % edge, index / edge)
      let (r, g, b) = (exact[3 * index], exact[3 * index + 1], exact[3 * index + 2])
      let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
      let found = [target.imagePlanes.y[2 * x, 2 * y], target.imagePlanes.u[x, y], target.imagePlanes.v[x, y]]
      let expected = [16 + 219 * luma, 128 + 224 * (b - luma) / 1.8556, 128 + 224 * (r - luma) / 1.5748]
      errors.append(zip(found, expected).map { abs(Double($0) - $1) }.max() ?? 0)
    }
    errors.sort()
    #expect(errors[errors.count * 95 / 100] <= 2.5)
    #expect(errors.reduce(0, +) / Double(errors.count) <= 0.75)
    // HLG is interpolated between the nodes of a table; each colour of PQ is computed.
    if range == .perceptualQuantizer { #expect((errors.last ?? 255) <= 1.5) }
  }

  /// Sets the square of a 4:2:0 frame that has one colour sample, of `edge` such squares a row.
  private static func fill(_ frame: borrowing Frame, _ index: Int, square: Int, of edge: Int, _ code: UInt16) {
    guard let plane = frame.plane(index) else { return }
    let size = index == 0 ? 2 : 1
    for row in 0..<size {
      let line = plane.base + (square / edge * size + row) * plane.stride
      (line.assumingMemoryBound(to: UInt16.self) + square % edge * size).update(repeating: code, count: size)
    }
  }

  @Test("a saturated BT.2020 colour keeps its hue and is clipped to BT.709")
  func gamut() throws {
    let facts = VideoFacts(
      stream: 0, codec: "hevc", profile: nil, pixelFormat: "yuv420p10le", coded: Size(width: 64, height: 64),
      sampleAspectRatio: 1, transform: .identity, display: Size(width: 64, height: 64), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt2020nc", primaries: "bt2020", transfer: "bt2020-10"))
    let layout = FrameLayout(facts)
    let colors = try #require(layout.colors)
    // 75 % green in BT.2020: Y = 0.678 * 0.75.
    let y = UInt16(64 + 876 * 0.678 * 0.75)
    let u = UInt16(512 + 896 * (0 - 0.678 * 0.75) / 1.8814)
    let v = UInt16(512 + 896 * (0 - 0.678 * 0.75) / 1.4746)
    let source = try Frame(width: 64, height: 64, format: .yuv420p10)
    for (index, value) in [y, u, v].enumerated() {
      guard let plane = source.plane(index) else { continue }
      let rows = index == 0 ? 64 : 32
      for row in 0..<rows {
        (plane.base + row * plane.stride).assumingMemoryBound(to: UInt16.self).update(repeating: value, count: rows)
      }
    }
    let target = ImageBuffer(width: 64, height: 64)
    colors.map(source.tenBitPlanes(from: (0, 0)), into: target.imagePlanes)
    let (luma, blue, red) = (
      Double(target.imagePlanes.y[8, 8]), Double(target.imagePlanes.u[4, 4]), Double(target.imagePlanes.v[4, 4])
    )
    let signal = (luma - 16) / 219
    let (r, b) = (signal + 1.5748 * (red - 128) / 224, signal + 1.8556 * (blue - 128) / 224)
    let g = (signal - 0.2126 * r - 0.0722 * b) / 0.7152
    #expect(r > -0.02 && b > -0.02 && g < 1.02)
    #expect(g > r + 0.4 && g > b + 0.2)
  }
}
