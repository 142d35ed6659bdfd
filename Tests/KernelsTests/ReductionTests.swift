import Kernels
import Testing

@Suite("Halving")
struct HalvingTests {
  @Test(
    "each byte is the rounded mean of four, in vectors and in the remainder",
    arguments: [(1, 1), (7, 3), (16, 2), (37, 5), (64, 9)])
  func means(width: Int, height: Int) {
    let source = Pixels.noise(width: width * 2, height: height * 2, seed: 7)
    for portable in [false, true] {
      var target = Pixels(width: width, height: height) { _, _ in 0 }
      source.read { source in target.write { $0.copy(halving: source, portable: portable) } }
      #expect(target == means(of: source), "portable: \(portable)")
    }
  }

  @Test("the maximum is preserved")
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

@Suite("Means")
struct MeanTests {
  @Test("each byte is the rounded mean of its square", arguments: [1, 3, 5, 8, 11])
  func means(side: Int) {
    let source = PlaneBuffer(width: 7 * side, height: 4 * side) { x, y in UInt8((x * 83 + y * 29) % 256) }
    let target = PlaneBuffer(width: 7, height: 4) { _, _ in 0 }
    target.plane.copy(meansOf: source.plane.reading, side: side)
    for y in 0..<4 {
      for x in 0..<7 {
        var sum = side * side / 2
        for row in 0..<side { for column in 0..<side { sum += Int(source.plane[x * side + column, y * side + row]) } }
        #expect(Int(target.plane[x, y]) == sum / (side * side))
      }
    }
  }
}

@Suite("Two thirds")
struct TwoThirdsTests {
  static let sizes = [(2, 2), (4, 2), (30, 6), (32, 32), (34, 4), (62, 10), (96, 8), (360, 12), (722, 6)]

  /// The definition: the filter along columns, then along rows, each rounded.
  static func reference(_ source: [[Int]], width: Int, height: Int) -> [[Int]] {
    func reduce(_ row: [Int], count: Int) -> [Int] {
      (0..<count).map { index in
        let isSecond = index % 2 == 1
        let nearest = index / 2 * 3 + (isSecond ? 2 : 0)
        let step = isSecond ? -1 : 1
        func sample(_ position: Int) -> Int { row[min(max(position, 0), row.count - 1)] }
        let sum =
          5 * sample(nearest - step) + 80 * sample(nearest) + 57 * sample(nearest + step)
          - 14 * sample(nearest + 2 * step)
        return min(max(Int((Double(sum) / 128 + 0.5).rounded(.down)), 0), 255)
      }
    }
    let columns = (0..<source[0].count).map { x in reduce(source.map { $0[x] }, count: height) }
    return (0..<height).map { y in reduce(columns.map { $0[y] }, count: width) }
  }

  @Test("equals the definition, with and without vector instructions", arguments: sizes)
  func matches(width: Int, height: Int) {
    let source = PlaneBuffer(width: width / 2 * 3, height: height / 2 * 3) { x, y in
      UInt8((x * 37 + y * 101 + x * y * 7) % 256)
    }
    let expected = Self.reference(
      (0..<source.height).map { y in (0..<source.width).map { Int(source.plane[$0, y]) } }, width: width, height: height
    )
    for portable in [false, true] {
      let target = PlaneBuffer(width: width, height: height) { _, _ in 0 }
      target.plane.copy(twoThirdsOf: source.plane.reading, portable: portable)
      for y in 0..<height {
        for x in 0..<width { #expect(Int(target.plane[x, y]) == expected[y][x], "\(x), \(y)") }
      }
    }
  }

  @Test("a flat plane stays flat at every brightness", arguments: [0, 1, 127, 254, 255] as [UInt8])
  func flat(value: UInt8) {
    let source = PlaneBuffer(width: 96, height: 48) { _, _ in value }
    let target = PlaneBuffer(width: 64, height: 32) { _, _ in 0 }
    target.plane.copy(twoThirdsOf: source.plane.reading)
    for y in 0..<32 { for x in 0..<64 { #expect(target.plane[x, y] == value) } }
  }
}
