import Kernels
import Stills

/// How the rows of a PNG, WebP, HEIF or AVIF become an image.
struct ImageRows {
  let orientation: Orientation
  let isPremultiplied: Bool
  /// Whether greys have the limited range of video.
  let expandsGrey: Bool

  func read(_ reader: inout ImageReader, into image: PlanarImage) throws {
    let header = reader.header
    let scaler = ImageScaler(
      width: header.width, height: header.height, target: image, orientation: orientation,
      isPremultiplied: isPremultiplied)
    let memory = AlignedBuffer(count: 4 * header.width)
    let row = memory.base.assumingMemoryBound(to: UInt8.self)
    let expanded = (0...255).map { UInt8(min(max(Double($0 - 16) * 255 / 219, 0), 255).rounded()) }
    for _ in 0..<header.height {
      try reader.read(into: row, stride: 4 * header.width, rowCount: 1)
      if expandsGrey {
        for x in 0..<header.width {
          for component in 0..<3 { row[4 * x + component] = expanded[Int(row[4 * x + component])] }
        }
      }
      scaler.take(row)
    }
  }

  /// Reads an image of high dynamic range.
  ///
  /// - Parameter mapping: of red, green and blue between 0 and 1.
  func read(_ reader: inout ImageReader, into image: PlanarImage, mapping: SignalMapping) throws {
    let (width, height) = (reader.header.width, reader.header.height)
    let scaler = ImageScaler(width: width, height: height, target: image, orientation: orientation)
    let rows = HighDynamicRangeRows(mapping: mapping, isPremultiplied: isPremultiplied, expandsGrey: expandsGrey)
    let wide = AlignedBuffer(count: 8 * width)
    let mapped = AlignedBuffer(count: 4 * width)
    let (source, target) = (
      wide.base.assumingMemoryBound(to: UInt16.self), mapped.base.assumingMemoryBound(to: UInt8.self)
    )
    for _ in 0..<height {
      try reader.readRow16(into: source)
      rows.map(source, into: target, count: width)
      scaler.take(target)
    }
  }
}
