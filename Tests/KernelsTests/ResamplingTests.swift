import Kernels
import Testing

@Suite("Resampling")
struct ResamplingTests {
  @Test(
    "weights have a sum of one and are within the row", arguments: [(4032, 2048), (100, 33), (7, 3), (3, 7), (5, 5)])
  func weights(source: Int, target: Int) {
    let filter = ResamplingFilter(from: source, to: target)
    for index in 0..<target {
      let weights = filter.weights[index * filter.taps..<(index + 1) * filter.taps]
      #expect(weights.reduce(0) { $0 + Int($1) } == 1 << 14)
      #expect(Int(filter.starts[index]) + filter.taps <= source)
    }
  }

  @Test("a flat plane stays flat at every size", arguments: [(300, 200, 97, 61), (40, 30, 41, 35)])
  func flat(width: Int, height: Int, toWidth: Int, toHeight: Int) {
    let target = Self.scaled(width: width, height: height, toWidth: toWidth, toHeight: toHeight) { _, _ in 173 }
    for y in 0..<toHeight { for x in 0..<toWidth { #expect(target.plane[x, y] == 173) } }
  }

  @Test("the result is the same with and without vector instructions")
  func portable() {
    let pixel = { (x: Int, y: Int) in UInt8(truncatingIfNeeded: x &* 2_654_435_761 ^ y &* 40_503 >> 3) }
    for (width, height, toWidth, toHeight) in [(403, 302, 205, 153), (129, 65, 128, 64), (1000, 40, 31, 7)] {
      let planes = [false, true].map {
        Self.scaled(
          width: width, height: height, toWidth: toWidth, toHeight: toHeight, portable: $0, pixel)
      }
      for y in 0..<toHeight { for x in 0..<toWidth { #expect(planes[0].plane[x, y] == planes[1].plane[x, y]) } }
    }
  }

  @Test("every orientation equals the transform of single pixels", arguments: Orientation.allCases)
  func orientations(orientation: Orientation) {
    let (width, height) = (70, 90)
    let pixel = { (x: Int, y: Int) in UInt8(truncatingIfNeeded: 3 * x + 5 * y) }
    let size = orientation.size(width: width, height: height)
    let target = Self.scaled(
      width: width, height: height, toWidth: size.width, toHeight: size.height, orientation: orientation, pixel)
    for y in 0..<height {
      for x in 0..<width {
        let mirrored = orientation.isMirrored ? width - 1 - x : x
        let (u, v) =
          switch orientation.quarterTurns {
          case 0: (mirrored, y)
          case 1: (height - 1 - y, mirrored)
          case 2: (width - 1 - mirrored, height - 1 - y)
          default: (y, width - 1 - mirrored)
          }
        #expect(target.plane[u, v] == pixel(x, y))
      }
    }
  }

  private static func scaled(
    width: Int, height: Int, toWidth: Int, toHeight: Int, orientation: Orientation = .upright, portable: Bool = false,
    _ pixel: (Int, Int) -> UInt8
  ) -> PlaneBuffer {
    let target = PlaneBuffer(width: toWidth, height: toHeight) { _, _ in 0 }
    let scaler = PlaneScaler(
      width: width, height: height, rowBytes: width, band: 8, target: target.plane, orientation: orientation,
      portable: portable)
    for start in stride(from: 0, to: height, by: 8) {
      let count = min(8, height - start)
      for row in 0..<count {
        let into = scaler.nextRow(after: row)
        for x in 0..<width { into[x] = pixel(x, start + row) }
      }
      scaler.take(count)
    }
    return target
  }
}
