import AV
import Glibc
import Kernels
import MediaFixtures
import Model
import Stills
import Testing

@testable import Media

@Suite("Where colours are", .tags(.media))
struct ChromaPositionTests {
  /// A frame whose luma and U rise from left to right and from top to bottom alike, or fall, as a camera samples them: U on the
  /// left of its pixels, half-way between two rows.
  private static func ramp(_ size: Size, falls: Bool) throws -> Frame {
    let frame = try Frame(width: size.width, height: size.height, format: .yuv420p)
    let planes = frame.imagePlanes
    func level(_ x: Double, _ y: Double) -> UInt8 {
      let rise = range / 2 * (x / Double(size.width) + y / Double(size.height))
      return UInt8((falls ? 20 + range - rise : 20 + rise).rounded())
    }
    for y in 0..<size.height {
      for x in 0..<size.width {
        planes.y.base.storeBytes(of: level(Double(x), Double(y)), toByteOffset: y * planes.y.stride + x, as: UInt8.self)
      }
    }
    for row in 0..<size.height / 2 {
      for column in 0..<size.width / 2 {
        planes.u.base.storeBytes(
          of: level(Double(2 * column), 2 * Double(row) + 0.5), toByteOffset: row * planes.u.stride + column,
          as: UInt8.self)
        planes.v.base.storeBytes(of: 128, toByteOffset: row * planes.v.stride + column, as: UInt8.self)
      }
    }
    return frame
  }

  // Codes between the corners.
  private static let range = 210.0

  /// How much further in the rising direction U is than luma at the place where U belongs, in codes.
  private static func shift(_ converter: UprightConverter, from coded: Size) throws -> Double {
    let differences = try [false, true].map { falls in
      let buffer = ImageBuffer(width: converter.size.width, height: converter.size.height)
      try converter.draw(try ramp(coded, falls: falls), into: buffer.imagePlanes)
      return difference(buffer.imagePlanes.reading, converter.size)
    }
    // Rounding is the same in both directions.
    return (differences[0] - differences[1]) / 2
  }

  private static func difference(_ image: ImagePlanes, _ size: Size) -> Double {
    var sum = 0.0
    var count = 0
    for row in 4..<size.height / 2 - 4 {
      for column in 4..<size.width / 2 - 4 {
        let luma = Double(image.y[2 * column, 2 * row]) + Double(image.y[2 * column, 2 * row + 1])
        sum += Double(image.u[column, row]) - luma / 2
        count += 1
      }
    }
    return sum / Double(count)
  }

  @Test(
    "stays with luma in whatever direction and by whatever factor a frame is scaled",
    arguments: Orientation.allCases,
    [Size(width: 324, height: 576), Size(width: 430, height: 766), Size(width: 836, height: 1486)])
  func scaled(orientation: Orientation, size: Size) throws {
    let coded = orientation.size(width: 1080, height: 1920)
    let source = Size(width: coded.width, height: coded.height)
    var layout = FrameLayout(upright: source)
    layout.orientation = orientation
    let converter = try UprightConverter(from: layout, to: size)
    #expect(converter.chroma == .left)
    let shift = try Self.shift(converter, from: source)
    // A pixel of the smallest size is a third of a code wide, and of the largest an eighth.
    #expect(abs(shift) < 0.02, "\(shift)")
  }

  @Test(
    "is known after a reduction to means", arguments: [Size(width: 180, height: 320), Size(width: 216, height: 384)])
  func reduced(size: Size) throws {
    let full = Size(width: 1080, height: 1920)
    let converter = try UprightConverter(from: FrameLayout(upright: full), to: size)
    let shift = try Self.shift(converter, from: full)
    let expected = Double(converter.chroma.x) / 256 * Self.range / 2 / Double(size.width)
    #expect(converter.chroma.y == 128 && abs(shift - expected) < 0.02, "\(shift), not \(expected)")
  }

  /// A frame with a soft slanting edge from dark to bright, or back, at which U changes as far as colours of RGB may. All rows differ, so
  /// that rounding has no say in the mean.
  private static func muted(_ size: Size, falls: Bool) throws -> Frame {
    let frame = try Frame(width: size.width, height: size.height, format: .yuv420p)
    let planes = frame.imagePlanes
    func luma(_ x: Double, _ y: Double) -> Double {
      let edge = (8 * x - 5 * Double(size.width)) / Double(size.width) + 2 * y / Double(size.height)
      let rise = 90 * min(max(edge + 0.5, 0), 1)
      return falls ? 170 - rise : 80 + rise
    }
    for y in 0..<size.height {
      for x in 0..<size.width {
        let level = luma(Double(x), Double(y))
        planes.y.base.storeBytes(of: UInt8(level.rounded()), toByteOffset: y * planes.y.stride + x, as: UInt8.self)
        guard x % 2 == 0, y % 2 == 0 else { continue }
        let color = 128 + (luma(Double(x), Double(y) + 0.5) - 125) / 3
        let place = y / 2 * planes.u.stride + x / 2
        planes.u.base.storeBytes(of: UInt8(color.rounded()), toByteOffset: place, as: UInt8.self)
        planes.v.base.storeBytes(of: 128, toByteOffset: place, as: UInt8.self)
      }
    }
    return frame
  }

  /// How much further to the right than luma U is in rows of RGB, in pixels.
  private static func shift(_ images: [[[UInt8]]], channels: Int) -> Double {
    let differences = images.map { rows in
      var sum = 0.0
      var count = 0
      for row in rows.dropFirst(8).dropLast(8) {
        for x in 8..<row.count / channels - 8 {
          let (r, g, b) = (Double(row[channels * x]), Double(row[channels * x + 1]), Double(row[channels * x + 2]))
          let luma = (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255
          sum += 224 * (b / 255 - luma) / 1.8556 - (16 + 219 * luma - 125) / 3
          count += 1
        }
      }
      return sum / Double(count)
    }
    // U changes by 30 codes.
    let columns = Double((images[0].first?.count ?? 0) / channels - 16)
    return -(differences[0] - differences[1]) / 2 * columns / 30
  }

  // Few pixels, so that each is many codes wide.
  private static let small = Size(width: 96, height: 144)
  private static let places = [small, Size(width: 64, height: 96), Size(width: 36, height: 54)]

  @Test("equals luma's in JPEG stills, scaled or not", arguments: places)
  func still(size: Size) throws {
    let images = try [false, true].map { falls in
      let file = try TemporaryFile.make()
      let plan = StillPlan(role: .poster, input: nil, at: 0, size: size, quality: 100)
      try StillWriter(plan, layout: FrameLayout(upright: Self.small), file: file).write(
        Self.muted(Self.small, falls: falls))
      let image = try JPEGDecoder.decode(TemporaryFile.bytes(of: file), limits: JPEGLimits(pixels: 1 << 24))
      return (0..<image.height).map { Array(image.bytes[3 * $0 * image.width..<3 * ($0 + 1) * image.width]) }
    }
    let shift = Self.shift(images, channels: 3)
    #expect(abs(shift) < 0.1, "\(shift) pixels")
  }

  @Test("equals luma's in previews, scaled or not", arguments: places)
  func preview(size: Size) throws {
    let images = try [false, true].map { falls in
      let file = try TemporaryFile.make()
      let plan = PreviewPlan(
        role: .preview, input: nil, at: 0, frames: 1, framesPerSecond: 10, size: size, quality: 100)
      let writer = try PreviewWriter(plan, layout: FrameLayout(upright: Self.small), file: file)
      try writer.write(Self.muted(Self.small, falls: falls))
      _ = try writer.finish()
      var reader = try ImageReader(TemporaryFile.bytes(of: file), format: .webp, pixels: 1 << 24)
      var rows: [[UInt8]] = []
      for _ in 0..<reader.header.height {
        var row = [UInt8](repeating: 0, count: 4 * reader.header.width)
        try row.withUnsafeMutableBufferPointer { buffer in
          guard let base = buffer.baseAddress else { return }
          try reader.read(into: base, stride: buffer.count, rowCount: 1)
        }
        rows.append(row)
      }
      return rows
    }
    let shift = Self.shift(images, channels: 4)
    // WebP predicts from the left, and lags a little.
    #expect(abs(shift) < 0.25, "\(shift) pixels")
  }
}

/// Fine patterns in the inset, against a filter that removes all that the inset cannot show.
@Suite("Fine patterns", .tags(.media))
struct FinePatternTests {
  /// The luma of a row of stripes with some cycles a pixel.
  private static func stripes(_ frequency: Double, count: Int) -> [Double] {
    (0..<count).map { 125 + 100 * cos(2 * .pi * frequency * Double($0)) }
  }

  private static func contrast(_ row: some Collection<Double>) -> Double {
    let mean = row.reduce(0, +) / Double(row.count)
    return (row.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(row.count)).squareRoot()
  }

  /// A row scaled by a Lanczos filter of three lobes.
  private static func scaled(_ row: [Double], to count: Int) -> [Double] {
    let scale = Double(row.count) / Double(count)
    func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
    return (0..<count).map { index in
      let centre = (Double(index) + 0.5) * scale - 0.5
      let taps = max(0, Int(centre - 3 * scale))...min(row.count - 1, Int(centre + 3 * scale) + 1)
      let weights = taps.map { tap -> Double in
        let x = (Double(tap) - centre) / scale
        return abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0
      }
      return zip(weights, taps).reduce(0) { $0 + $1.0 * row[$1.1] } / weights.reduce(0, +)
    }
  }

  /// A frame of upright stripes.
  private static func frame(_ frequency: Double, _ size: Size) throws -> Frame {
    let frame = try Frame(width: size.width, height: size.height, format: .yuv420p)
    let planes = frame.imagePlanes
    for y in 0..<size.height {
      for (x, luma) in stripes(frequency, count: size.width).enumerated() {
        planes.y.base.storeBytes(of: UInt8(luma.rounded()), toByteOffset: y * planes.y.stride + x, as: UInt8.self)
      }
    }
    for plane in [planes.u, planes.v] { plane.fill(with: 128) }
    return frame
  }

  /// The part of the contrast of stripes that is left in the middle row of an image.
  private static func part(_ luma: Plane, of frequency: Double, _ count: Int) -> Double {
    let row = (16..<luma.width - 16).map { Double(luma[$0, luma.height / 2]) }
    return contrast(row) / contrast(stripes(frequency, count: count))
  }

  @Test(
    "leave the parts of their contrast that the decision names, where Lanczos leaves none of what the inset cannot show",
    arguments: [(0.4, 0.31, 0.27, 0.0), (0.1, 0.95, 0.81, 0.95)])
  func contrast(frequency: Double, halved: Double, inset: Double, sharp: Double) throws {
    let (size, coded) = (Size(width: 324, height: 576), Size(width: 1080, height: 1920))
    let frame = try Self.frame(frequency, coded)
    let half = ImageBuffer(width: coded.width / 2, height: coded.height / 2)
    half.imagePlanes.copy(halving: frame.imagePlanes.reading)
    let buffer = ImageBuffer(width: size.width, height: size.height)
    try UprightConverter(from: FrameLayout(upright: coded), to: size).draw(frame, into: buffer.imagePlanes)
    let source = Self.stripes(frequency, count: coded.width)
    let lanczos = Self.contrast(Self.scaled(source, to: size.width).dropFirst(16).dropLast(16)) / Self.contrast(source)
    for (found, expected) in [
      (Self.part(half.imagePlanes.reading.y, of: frequency, coded.width), halved),
      (Self.part(buffer.imagePlanes.reading.y, of: frequency, coded.width), inset), (lanczos, sharp),
    ] {
      #expect(abs(found - expected) < 0.01)
    }
  }
}
