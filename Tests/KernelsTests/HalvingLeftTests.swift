import Kernels
import Testing

@Suite("Halving of samples on the left")
struct HalvingLeftTests {
  @Test(
    "each byte has the weights 1, 2, 1 around its column, in vectors and in the remainder",
    arguments: [(1, 1), (2, 3), (7, 3), (9, 2), (21, 5), (65, 4)])
  func weights(width: Int, height: Int) {
    let source = Pixels.noise(width: width * 2, height: height * 2, seed: 9)
    var target = Pixels(width: width, height: height) { _, _ in 0 }
    source.read { source in target.write { $0.copy(halvingLeft: source) } }
    let expected = Pixels(width: width, height: height) { x, y in
      var sum = 4
      for row in 2 * y...2 * y + 1 {
        sum += Int(source[max(0, 2 * x - 1), row]) + 2 * Int(source[2 * x, row]) + Int(source[2 * x + 1, row])
      }
      return UInt8(sum / 8)
    }
    #expect(target == expected)
  }

  @Test("a ramp stays where it is, apart from the edge")
  func position() {
    let source = Pixels(width: 64, height: 2) { x, _ in UInt8(3 * x) }
    var target = Pixels(width: 32, height: 1) { _, _ in 0 }
    source.read { source in target.write { $0.copy(halvingLeft: source) } }
    for x in 1..<32 { #expect(target[x, 0] == source[2 * x, 0]) }
  }
}
