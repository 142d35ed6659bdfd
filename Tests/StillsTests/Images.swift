import MediaFixtures
import Stills
import Testing

extension RGBImage {
  /// Returns an image with smooth colours and a little structure.
  static func gradient(width: Int, height: Int) -> RGBImage {
    PhotoFixture.image(width: width, height: height) { x, y in
      (UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), UInt8(128 + (x + y) % 16))
    }
  }
}

/// The marker segments of a JPEG file (ITU-T T.81, annex B).
struct JPEGSegments {
  /// The marker codes in the order of the file, except SOI, EOI and RST.
  private(set) var markers: [UInt8] = []
  /// The offset of each segment's payload.
  private(set) var payloads: [Int] = []

  init(_ bytes: [UInt8]) {
    var position = 2
    while position + 4 <= bytes.count {
      guard bytes[position] == 0xFF, bytes[position + 1] != 0, !(0xD0...0xD9 ~= bytes[position + 1]) else {
        position += 1
        continue
      }
      markers.append(bytes[position + 1])
      payloads.append(position + 4)
      position += 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
    }
  }
}

extension Tag {
  /// Tests that encode or decode real media.
  @Tag static var media: Self
}
