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
  func read(
    _ reader: inout ImageReader, into image: PlanarImage, mapping: @escaping (SIMD3<Double>) -> SIMD3<Double>
  ) throws {
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

/// Maps rows of RGBA of 16 bits to 8 bits: colours of more bits keep their steps, and transparent parts are laid on white after that.
private struct HighDynamicRangeRows {
  /// Of red, green and blue between 0 and 1.
  let mapping: (SIMD3<Double>) -> SIMD3<Double>
  /// Whether colours are multiplied by alpha already; those that result are not.
  let isPremultiplied: Bool
  /// Whether greys have the limited range of video.
  let expandsGrey: Bool

  func map(_ source: UnsafePointer<UInt16>, into target: UnsafeMutablePointer<UInt8>, count: Int) {
    for x in stride(from: 0, to: 4 * count, by: 4) {
      let alpha = source[x + 3]
      var signal = SIMD3(Double(source[x]), Double(source[x + 1]), Double(source[x + 2]))
      signal /= isPremultiplied && alpha > 0 ? Double(alpha) : 65535
      if expandsGrey { signal = (signal * 255 - 16) / 219 }
      let shown = mapping(signal.clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 1)))
      for component in 0..<3 { target[x + component] = UInt8((shown[component] * 255).rounded()) }
      target[x + 3] = UInt8((Int(alpha) + 128) / 257)
    }
  }
}
