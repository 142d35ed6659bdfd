import Kernels
import Stills

/// A JPEG read back.
package struct StillImage {
  private let image: RGBImage

  /// In pixels.
  package var width: Int { image.width }
  package var height: Int { image.height }

  /// Decodes it.
  package init(_ bytes: [UInt8]) throws {
    image = try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 1 << 24))
  }

  /// The marked colour at a place given in shares of width and height; nil for any other colour.
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

  /// The brightness at a place given in shares of width and height, 0 to 255.
  package func luma(atX x: Double, y: Double) -> Int {
    let offset = (Int(y * Double(image.height - 1)) * image.width + Int(x * Double(image.width - 1))) * 3
    return image.bytes[offset..<offset + 3].reduce(0) { $0 + Int($1) } / 3
  }

  /// The number of the counter in it; nil when there is none.
  package var counter: Int? {
    let buffer = ImageBuffer(width: width, height: height)
    let luma = buffer.picture.y
    for y in 0..<height {
      for x in 0..<width {
        let offset = (y * width + x) * 3
        luma[x, y] = UInt8(image.bytes[offset..<offset + 3].reduce(0) { $0 + Int($1) } / 3)
      }
    }
    return CounterBlocks.read(buffer.picture.reading)
  }
}
