import Kernels
import Testing

@Suite("Drawing")
struct DrawingTests {
  @Test(
    "drawing with rounded corners equals its definition",
    arguments: [(8, 8, 4), (23, 17, 5), (40, 9, 4), (12, 30, 6), (9, 7, 0)])
  func definition(width: Int, height: Int, radius: Int) {
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

  @Test("blending rounds to the nearest")
  func blending() {
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

  @Test("fill and copy change only their rectangle")
  func rectangles() {
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

@Suite("Corner masks")
struct CornerMaskTests {
  @Test("masks are symmetric about the diagonal", arguments: [1, 2, 3, 7, 24, 36, 37])
  func symmetry(radius: Int) {
    for mask in [CornerMask(radius: radius), CornerMask(subsampledRadius: radius)] {
      for y in 0..<mask.side {
        for x in 0..<y {
          #expect(mask.coverage[y * mask.side + x] == mask.coverage[x * mask.side + y])
        }
      }
    }
  }

  @Test("coverage increases inwards", arguments: [4, 24, 36])
  func coverage(radius: Int) {
    for mask in [CornerMask(radius: radius), CornerMask(subsampledRadius: radius)] {
      let rows = stride(from: 0, to: mask.coverage.count, by: mask.side).map { mask.coverage[$0..<$0 + mask.side] }
      for row in rows { #expect(Array(row) == row.sorted()) }
      #expect(mask.coverage.last == 255)
    }
    #expect(CornerMask(radius: radius).coverage.first == 0)
  }

  @Test("the sum of the coverage is the area of the circle")
  func area() {
    let radius = 36
    let area = CornerMask(radius: radius).coverage.reduce(0.0) { $0 + Double($1) / 255 }
    let quarter = Double.pi * Double(radius * radius) / 4
    #expect(abs(area - quarter) / quarter < 0.001)
  }

  @Test("the edge is a ramp of one pixel")
  func ramp() {
    // The centre of pixel x in row 0 of radius 4 is 3.5 - x and 3.5 away from the centre of the circle.
    let distances = [3.5, 2.5, 1.5, 0.5].map { ($0 * $0 + 3.5 * 3.5).squareRoot() }
    let expected = distances.map { UInt8((255 * min(max(4.5 - $0, 0), 1)).rounded()) }
    #expect(Array(CornerMask(radius: 4).coverage.prefix(4)) == expected)
  }

  @Test("the chroma mask is the mean of four luma values")
  func chroma() {
    let luma = CornerMask(radius: 36)
    let chroma = CornerMask(subsampledRadius: 36)
    #expect(chroma.side == 18)
    for y in 0..<18 {
      for x in 0..<18 {
        let sum = [0, 1, 36, 37].reduce(0) { $0 + Int(luma.coverage[2 * y * 36 + 2 * x + $1]) }
        #expect(chroma.coverage[y * 18 + x] == UInt8((sum + 2) / 4))
      }
    }
  }
}
