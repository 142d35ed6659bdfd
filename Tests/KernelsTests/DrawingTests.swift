import Kernels
import Testing

@Suite struct DrawingTests {
  @Test(arguments: [(8, 8, 4), (23, 17, 5), (40, 9, 4), (12, 30, 6), (9, 7, 0)])
  func drawingEqualsItsDefinition(width: Int, height: Int, radius: Int) {
    let below = Pixels.noise(width: width, height: height, seed: 4)
    let above = Pixels.noise(width: width, height: height, seed: 5)
    let mask = CornerMask(radius: radius)
    var drawn = below
    above.read { source in drawn.write { $0.draw(source, corners: mask) } }

    let expected = Pixels(width: width, height: height) { x, y in
      let (column, row) = (min(x, width - 1 - x), min(y, height - 1 - y))
      guard column < radius && row < radius else { return above[x, y] }
      let coverage = Double(mask.coverage[row * radius + column])
      let mixed = (Double(below[x, y]) * (255 - coverage) + Double(above[x, y]) * coverage) / 255
      return UInt8(mixed.rounded())
    }
    #expect(drawn == expected)
  }

  @Test func blendingIsADivisionRoundedToTheNearest() {
    let ramp = CornerMask(radius: 36)
    let coverages = Set(ramp.coverage)
    #expect(coverages.contains(0) && coverages.contains(255) && coverages.count > 20)
    for below in UInt8.min...UInt8.max {
      var drawn = Pixels(width: 72, height: 72) { _, _ in below }
      let above = Pixels(width: 72, height: 72) { x, y in UInt8(truncatingIfNeeded: x * 7 + y * 13) }
      above.read { source in drawn.write { $0.draw(source, corners: ramp) } }
      var differences = 0
      for y in 0..<36 {
        for x in 0..<36 {
          let coverage = Int(ramp.coverage[y * 36 + x])
          let sum = Int(below) * (255 - coverage) + Int(above[x, y]) * coverage
          if Int(drawn[x, y]) != (2 * sum + 255) / 510 { differences += 1 }
        }
      }
      #expect(differences == 0)
    }
  }

  @Test func fillAndCopyKeepToTheirRectangle() {
    var pixels = Pixels.noise(width: 20, height: 12, seed: 6)
    let before = pixels
    let source = Pixels.noise(width: 5, height: 3, seed: 7)
    pixels.write { plane in
      plane.region(x: 2, y: 1, width: 7, height: 4).fill(with: 99)
      source.read { plane.region(x: 11, y: 6, width: 5, height: 3).copy(from: $0) }
    }
    let expected = Pixels(width: 20, height: 12) { x, y in
      if 2..<9 ~= x && 1..<5 ~= y { return 99 }
      if 11..<16 ~= x && 6..<9 ~= y { return source[x - 11, y - 6] }
      return before[x, y]
    }
    #expect(pixels == expected)
  }
}
