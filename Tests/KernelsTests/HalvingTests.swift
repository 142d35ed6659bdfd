import Kernels
import Testing

@Suite("Halving")
struct HalvingTests {
  @Test(
    "each byte is the rounded mean of four, in vectors and in what is left over",
    arguments: [(1, 1), (7, 3), (8, 2), (21, 5), (64, 9)])
  func means(width: Int, height: Int) {
    let source = Pixels.noise(width: width * 2, height: height * 2, seed: 7)
    var target = Pixels(width: width, height: height) { _, _ in 0 }
    source.read { source in target.write { $0.copy(halving: source) } }
    #expect(target == means(of: source))
  }

  @Test("the brightest stay the brightest")
  func extremes() {
    let source = Pixels(width: 32, height: 4) { _, _ in 255 }
    var target = Pixels(width: 16, height: 2) { _, _ in 0 }
    source.read { source in target.write { $0.copy(halving: source) } }
    #expect(target == Pixels(width: 16, height: 2) { _, _ in 255 })
  }

  private func means(of source: Pixels) -> Pixels {
    Pixels(width: source.width / 2, height: source.height / 2) { x, y in
      let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map { Int(source[2 * x + $0.0, 2 * y + $0.1]) }
      return UInt8((four.reduce(0, +) + 2) / 4)
    }
  }
}
