import AV
import Kernels
import Model
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
    "stays that of luma in whatever direction and by whatever factor a frame is scaled",
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
}
