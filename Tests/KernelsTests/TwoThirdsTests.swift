import Kernels
import Testing

@Suite("Two thirds")
struct TwoThirdsTests {
  static let sizes = [(2, 2), (4, 2), (30, 6), (32, 32), (34, 4), (62, 10), (96, 8), (360, 12), (722, 6)]

  /// What the kernel is to do, written as it is thought: columns after rows, each rounded.
  static func reference(_ source: [[Int]], width: Int, height: Int) -> [[Int]] {
    func reduce(_ row: [Int], count: Int) -> [Int] {
      (0..<count).map { index in
        let isSecond = index % 2 == 1
        let nearest = index / 2 * 3 + (isSecond ? 2 : 0)
        let step = isSecond ? -1 : 1
        func sample(_ place: Int) -> Int { row[min(max(place, 0), row.count - 1)] }
        let sum =
          5 * sample(nearest - step) + 80 * sample(nearest) + 57 * sample(nearest + step)
          - 14 * sample(nearest + 2 * step)
        return min(max(Int((Double(sum) / 128 + 0.5).rounded(.down)), 0), 255)
      }
    }
    let columns = (0..<source[0].count).map { x in reduce(source.map { $0[x] }, count: height) }
    return (0..<height).map { y in reduce(columns.map { $0[y] }, count: width) }
  }

  @Test("is the weighted mean of four by four, the same with and without vector units", arguments: sizes)
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

  @Test("what is flat stays flat, at every brightness", arguments: [0, 1, 127, 254, 255] as [UInt8])
  func flat(value: UInt8) {
    let source = PlaneBuffer(width: 96, height: 48) { _, _ in value }
    let target = PlaneBuffer(width: 64, height: 32) { _, _ in 0 }
    target.plane.copy(twoThirdsOf: source.plane.reading)
    for y in 0..<32 { for x in 0..<64 { #expect(target.plane[x, y] == value) } }
  }
}
