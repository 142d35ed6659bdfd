import MediaFixtures
import Stills

/// A JPEG read back.
struct StillPicture {
  private let image: RGBImage

  var width: Int { image.width }
  var height: Int { image.height }

  init(_ bytes: [UInt8]) throws {
    image = try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 1 << 24))
  }

  /// The marked colour at a place given in shares of width and height; nil for any other colour.
  func color(atX x: Double, y: Double) -> MarkColor? {
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
  func luma(atX x: Double, y: Double) -> Int {
    let offset = (Int(y * Double(image.height - 1)) * image.width + Int(x * Double(image.width - 1))) * 3
    return image.bytes[offset..<offset + 3].reduce(0) { $0 + Int($1) } / 3
  }
}
