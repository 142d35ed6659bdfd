import Kernels
import Testing

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
