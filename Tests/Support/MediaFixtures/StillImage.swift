import Kernels
import Platform
package import Stills

/// A decoded JPEG.
package struct StillImage {
  private let image: RGBImage

  package var width: Int { image.width }
  package var height: Int { image.height }

  /// Decodes a JPEG.
  package init(_ bytes: [UInt8]) throws {
    image = try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 1 << 24))
  }

  /// Returns the mark colour at a position given in fractions of width and height; nil for any other colour.
  package func color(atX x: Double, y: Double) -> MarkColor? {
    let column = Int(x * Double(image.width - 1))
    let row = Int(y * Double(image.height - 1))
    let offset = (row * image.width + column) * 3
    let (red, green, blue) = (image.bytes[offset], image.bytes[offset + 1], image.bytes[offset + 2])
    switch (red > 180, green > 180, blue > 180) {
    case (true, false, false): return .red
    case (false, true, false): return .green
    case (false, false, true): return .blue
    default: return nil
    }
  }

  /// Returns the brightness, 0 to 255, at a position given in fractions of width and height.
  package func luma(atX x: Double, y: Double) -> Int {
    let offset = (Int(y * Double(image.height - 1)) * image.width + Int(x * Double(image.width - 1))) * 3
    return image.bytes[offset..<offset + 3].reduce(0) { $0 + Int($1) } / 3
  }

  /// The number of the counter; nil if there is none.
  package var counter: Int? {
    let buffer = ImageBuffer(width: width, height: height)
    let luma = buffer.imagePlanes.y
    for y in 0..<height {
      for x in 0..<width {
        let offset = (y * width + x) * 3
        luma[x, y] = UInt8(image.bytes[offset..<offset + 3].reduce(0) { $0 + Int($1) } / 3)
      }
    }
    return CounterBlocks.read(buffer.imagePlanes.reading)
  }
}

extension JPEGDecoder {
  /// Decodes a JPEG.
  package static func decode(_ bytes: [UInt8], limits: JPEGLimits) throws -> RGBImage {
    let file = try TemporaryFile.make(bytes)
    return try withExtendedLifetime(file) {
      var decoder = try JPEGDecoder(reading: file.descriptor.number, limits: limits)
      let header = decoder.header
      var pixels = [UInt8](repeating: 0, count: 3 * header.width * header.height)
      try pixels.withUnsafeMutableBufferPointer { buffer in
        try decoder.read(into: buffer, stride: 3 * header.width, rowCount: header.height)
      }
      return RGBImage(width: header.width, height: header.height, bytes: pixels)
    }
  }
}
