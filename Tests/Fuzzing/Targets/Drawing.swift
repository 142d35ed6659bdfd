import AV
import Kernels
import Platform
import Stills

@testable import Media

extension FuzzTarget {
  static let drawing = [encoder, kernels, colors]

  /// An image of any small size, whose samples are the input.
  private static func image(_ input: inout InputReader, halvesChroma: Bool, edge: Int = 80) -> PlanarImage {
    let image = PlanarImage(
      width: input.number(in: 1...edge), height: input.number(in: 1...edge), halvesChroma: halvesChroma)
    for index in 0..<3 { fill(image.plane(index), &input) }
    return image
  }

  private static func fill(_ plane: MutablePlane, _ input: inout InputReader) {
    // A short input fills the plane with a pattern of its own.
    let pattern = input.rest.isEmpty ? [7] : Array(input.rest.prefix(plane.width * plane.height))
    input = InputReader(Array(input.rest.dropFirst(pattern.count)))
    for y in 0..<plane.height {
      for x in 0..<plane.width { plane[x, y] = pattern[(y * plane.width + x) % pattern.count] }
    }
  }

  /// The JPEG coder: any size, quality and samples, with and without vector instructions.
  private static let encoder = FuzzTarget("encoder") { bytes in
    var input = InputReader(bytes)
    let encoder = JPEGEncoder(quality: input.number(in: 1...100))
    let halvesChroma = input.flag()
    let image = image(&input, halvesChroma: halvesChroma)
    let file = try encoder.encode(image)
    let portable = try encoder.encode(image, portable: true)
    expect(portable == file, "other bytes without vector instructions")
    let stored = try FuzzTarget.file(file)
    var decoder = try JPEGDecoder(reading: stored.descriptor.number, limits: JPEGLimits(pixels: 1 << 16))
    expect(decoder.header.width == image.width && decoder.header.height == image.height, "a file of another size")
    var rows = [UInt8](repeating: 0, count: 3 * image.width * image.height)
    let isWhole = rows.withUnsafeMutableBufferPointer { rows in
      (try? decoder.read(into: rows, stride: 3 * image.width, rowCount: image.height)) != nil
    }
    expect(isWhole, "a file that libjpeg does not decode")
  }

  /// The kernels, by planes of any size that lie in blocks of memory of exactly their size.
  private static let kernels = FuzzTarget("kernels") { bytes in
    var input = InputReader(bytes)
    let planes = ExactPlanes()
    defer { withExtendedLifetime(planes) {} }
    let operation = input.byte() % 8
    let (width, height) = (input.number(in: 0...70), input.number(in: 0...70))
    switch operation {
    case 0:
      let source = planes.plane(width, height, &input)
      for orientation in Orientation.allCases {
        let size = orientation.size(width: width, height: height)
        let target = planes.plane(size.width, size.height)
        target.copy(from: source.reading, orientation: orientation)
      }
    case 1:
      let source = planes.plane(2 * width, 2 * height, &input)
      planes.plane(width, height).copy(halving: source.reading)
    case 2:
      let side = input.number(in: 1...9)
      let source = planes.plane(side * width, side * height, &input)
      planes.plane(width, height).copy(meansOf: source.reading, side: side)
    case 3:
      let source = planes.plane(3 * width, 3 * height, &input)
      let targets = [true, false].map { portable in
        let target = planes.plane(2 * width, 2 * height)
        target.copy(twoThirdsOf: source.reading, portable: portable)
        return planes.bytes(target)
      }
      expect(targets[0] == targets[1], "other samples without vector instructions")
    case 4:
      let target = planes.plane(width, height, &input)
      let radius = input.number(in: 0...(min(width, height) / 2))
      target.draw(planes.plane(width, height, &input).reading, corners: CornerMask(radius: radius))
    case 5:
      guard width > 0, height > 0 else { return }
      scale(&input, width, height, planes)
    case 6:
      deinterlace(&input, width, height, planes)
    default:
      let halvesChroma = input.flag()
      let image = image(&input, halvesChroma: halvesChroma, edge: 40)
      let crop = (
        x: input.number(in: 0...((image.width - 1) / 2)) * 2, y: input.number(in: 0...((image.height - 1) / 2)) * 2
      )
      let scaled = image.scaled(
        toWidth: input.number(in: 1...50), height: input.number(in: 1...50),
        crop: (crop.x, crop.y, image.width - crop.x, image.height - crop.y), halvesChroma: input.flag())
      _ = scaled.rgb()
    }
  }

  /// Deinterlaces a plane of bytes or of words.
  private static func deinterlace(_ input: inout InputReader, _ width: Int, _ height: Int, _ planes: ExactPlanes) {
    let isWide = input.flag()
    let fields = (0..<3).map { _ in planes.plane(isWide ? 2 * width : width, height, &input) }
    let target = planes.plane(isWide ? 2 * width : width, height)
    func rows(_ plane: MutablePlane) -> Deinterlacing.Rows {
      Deinterlacing.Rows((base: plane.base, stride: plane.stride))
    }
    Deinterlacing.draw(
      previous: rows(fields[0]), current: rows(fields[1]), next: rows(fields[2]), into: rows(target), width: width,
      height: height, keepsLower: input.flag(), isWide: isWide)
  }

  private static let tables = [
    ColorRendering(transfer: .hybridLogGamma, primaries: .bt2020, matrix: .bt2020, isFullRange: false).table(),
    ColorRendering(transfer: .standard, primaries: .bt2020, matrix: .bt709, isFullRange: true).table(),
    ColorRendering(transfer: .perceptualQuantizer, primaries: .bt2020, matrix: .bt2020, isFullRange: false).table(),
  ]
  private static let correction = ColorCorrection { colors in colors.map { 65_535 - $0 / 2 } }

  /// The colours of images: ten-bit codes that need not have ten bits, and eight-bit ones.
  private static let colors = FuzzTarget("colors") { bytes in
    var input = InputReader(bytes)
    let planes = ExactPlanes()
    defer { withExtendedLifetime(planes) {} }
    let (table, portable) = (tables[input.number(in: 0...2)], input.flag())
    let (width, height) = (2 * input.number(in: 0...40), 2 * input.number(in: 0...40))
    let luma = planes.plane(2 * width, height, &input)
    let chroma = (0..<2).map { _ in planes.plane(width, height / 2, &input) }
    let target = planes.plane(width, height)
    let halves = (0..<2).map { _ in planes.plane(width / 2, height / 2) }
    func source(_ plane: MutablePlane) -> (base: UnsafeRawPointer, stride: Int) {
      (UnsafeRawPointer(plane.base), plane.stride)
    }
    table.map(
      ColorTable.Source(y: source(luma), u: source(chroma[0]), v: source(chroma[1])),
      into: MutableImagePlanes(y: target, u: halves[0], v: halves[1]))
    let halvesChroma = input.flag()
    let corrected = image(&input, halvesChroma: halvesChroma)
    corrected.correct(correction, portable: portable)
  }

  /// Scales a plane row by row, in every orientation.
  private static func scale(_ input: inout InputReader, _ width: Int, _ height: Int, _ planes: ExactPlanes) {
    let size = (width: input.number(in: 1...90), height: input.number(in: 1...90))
    let orientation = Orientation.allCases[input.number(in: 0...7)]
    let band = input.number(in: 1...16)
    let source = planes.plane(width, height, &input)
    let targets = [true, false].map { portable in
      let target = planes.plane(size.width, size.height)
      let scaler = PlaneScaler(
        width: width, height: height, rowBytes: width, band: band, target: target, orientation: orientation,
        portable: portable)
      for first in stride(from: 0, to: height, by: band) {
        let count = min(band, height - first)
        for row in 0..<count {
          for x in 0..<width { scaler.nextRow(after: row)[x] = source[x, first + row] }
        }
        scaler.take(count)
      }
      return planes.bytes(target)
    }
    expect(targets[0] == targets[1], "other samples without vector instructions")
  }
}

/// Planes in blocks of memory of exactly their size, so that a sanitizer reports each access outside of one. They are freed
/// with this object.
private final class ExactPlanes {
  private var blocks: [UnsafeMutableRawPointer] = []

  func plane(_ width: Int, _ height: Int) -> MutablePlane {
    let base = UnsafeMutableRawPointer.allocate(byteCount: width * height, alignment: 1)
    base.initializeMemory(as: UInt8.self, repeating: 0, count: width * height)
    blocks.append(base)
    return MutablePlane(base: base, stride: width, width: width, height: height)
  }

  func plane(_ width: Int, _ height: Int, _ input: inout InputReader) -> MutablePlane {
    let plane = plane(width, height)
    for y in 0..<height { for x in 0..<width { plane[x, y] = input.byte() } }
    return plane
  }

  deinit { for block in blocks { block.deallocate() } }

  /// The samples of a plane of this object.
  func bytes(_ plane: MutablePlane) -> [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: plane.base, count: plane.width * plane.height))
  }
}
