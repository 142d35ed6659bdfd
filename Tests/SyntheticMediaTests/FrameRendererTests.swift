import Kernels
import SyntheticMedia
import Testing

/// One colour with a black square at the top left.
private struct Patch: Shot {
  let background: Color

  func color(_ x: Float, _ y: Float) -> Color { x < 0.5 && y < 0.5 ? .zero : background }
}

@Suite("Frame renderer")
struct FrameRendererTests {
  /// The values of BT.709 in limited range (ITU-R BT.709-6, 3.4 and 3.5).
  @Test(
    "colours get their values of BT.709",
    arguments: [
      (Color(1, 1, 1), [235, 128, 128]), (Color(1, 0, 0), [63, 102, 240]), (Color(0, 1, 0), [173, 42, 26]),
      (Color(0, 0, 1), [32, 240, 118]), (Color(0, 0, 0), [16, 128, 128]),
    ])
  func colors(color: Color, expected: [Int]) async {
    let buffer = ImageBuffer(width: 64, height: 96)
    await FrameRenderer(width: 64, height: 96, grain: 0).render(Patch(background: color), frame: 0, into: buffer)
    let planes = buffer.imagePlanes
    let found = [planes.y[60, 90], planes.u[30, 45], planes.v[30, 45]].map { Int($0) }
    for (value, other) in zip(found, expected) { #expect(abs(value - other) <= 1) }
    #expect(planes.y[5, 5] == 16)
    #expect(planes.y[40, 5] == planes.y[60, 90])
  }

  @Test("the noise is the same for the same frame and different for the next one")
  func noise() async {
    let renderer = FrameRenderer(width: 32, height: 32, grain: 4)
    var lumas: [[UInt8]] = []
    for frame in [3, 3, 4] {
      let buffer = ImageBuffer(width: 32, height: 32)
      await renderer.render(Patch(background: Color(repeating: 0.5)), frame: frame, into: buffer)
      lumas.append((0..<32 * 32).map { buffer.imagePlanes.y[$0 % 32, $0 / 32] })
    }
    #expect(lumas[0] == lumas[1])
    #expect(lumas[0] != lumas[2])
  }
}

@Suite("Noise")
struct NoiseTests {
  @Test("values are uniform between 0 and 1")
  func uniformity() {
    let noise = Noise(seed: 5)
    var tenths = [Int](repeating: 0, count: 10)
    for y in Int32(-50)..<50 {
      for x in Int32(-50)..<50 { tenths[Int(noise.value(x, y) * 10)] += 1 }
    }
    for count in tenths { #expect(abs(count - 1000) < 150) }
  }

  @Test("smooth noise has no steps")
  func smoothness() {
    let noise = Noise(seed: 6)
    var previous = noise.smooth(0, 0.3)
    for step in 1...4000 {
      let value = noise.smooth(Float(step) / 400, 0.3)
      #expect(abs(value - previous) < 0.02)
      previous = value
    }
  }

  @Test("different seeds give different noise")
  func seeds() {
    #expect(Noise(seed: 1).fractal(3.3, 4.4, octaves: 4) != Noise(seed: 2).fractal(3.3, 4.4, octaves: 4))
    #expect(Noise(seed: 1).fractal(3.3, 4.4, octaves: 4) == Noise(seed: 1).fractal(3.3, 4.4, octaves: 4))
  }
}
