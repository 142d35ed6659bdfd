import Kernels
import Testing

@Suite struct CornerMaskTests {
  @Test(arguments: [1, 2, 3, 7, 24, 36, 37])
  func masksAreSymmetricAboutTheirDiagonal(radius: Int) {
    for mask in [CornerMask(radius: radius), CornerMask(subsampledRadius: radius)] {
      for y in 0..<mask.side {
        for x in 0..<y {
          #expect(mask.coverage[y * mask.side + x] == mask.coverage[x * mask.side + y])
        }
      }
    }
  }

  @Test(arguments: [4, 24, 36])
  func coverageGrowsInwards(radius: Int) {
    for mask in [CornerMask(radius: radius), CornerMask(subsampledRadius: radius)] {
      let rows = stride(from: 0, to: mask.coverage.count, by: mask.side).map { mask.coverage[$0..<$0 + mask.side] }
      for row in rows { #expect(Array(row) == row.sorted()) }
      #expect(mask.coverage.last == 255)
    }
    #expect(CornerMask(radius: radius).coverage.first == 0)
  }

  @Test func coverageIsTheAreaOfTheCircle() {
    let radius = 36
    let area = CornerMask(radius: radius).coverage.reduce(0.0) { $0 + Double($1) / 255 }
    let quarter = Double.pi * Double(radius * radius) / 4
    #expect(abs(area - quarter) / quarter < 0.001)
  }

  @Test func aRampOfOnePixelRunsAlongTheEdge() {
    // The centre of pixel x in row 0 of radius 4 lies 3.5 - x and 3.5 from the circle's centre.
    let distances = [3.5, 2.5, 1.5, 0.5].map { ($0 * $0 + 3.5 * 3.5).squareRoot() }
    let expected = distances.map { UInt8((255 * min(max(4.5 - $0, 0), 1)).rounded()) }
    #expect(Array(CornerMask(radius: 4).coverage.prefix(4)) == expected)
  }

  @Test func chromaIsTheMeanOfItsFourLumaPixels() {
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
