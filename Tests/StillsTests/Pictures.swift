import Stills

extension RGBImage {
  /// A picture by a formula.
  init(width: Int, height: Int, _ pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8)) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        let (red, green, blue) = pixel(x, y)
        bytes.append(contentsOf: [red, green, blue])
      }
    }
    self.init(width: width, height: height, bytes: bytes)
  }

  /// Smooth colours with a little structure, as JPEG likes them.
  static func gradient(width: Int, height: Int) -> RGBImage {
    RGBImage(width: width, height: height) { x, y in
      (UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), UInt8(128 + (x + y) % 16))
    }
  }

  /// The mean of the squared differences of all bytes.
  func meanSquaredError(to other: RGBImage) -> Double {
    precondition(width == other.width && height == other.height)
    let sum = zip(bytes, other.bytes).reduce(0) { sum, pair in
      let difference = Int(pair.0) - Int(pair.1)
      return sum + difference * difference
    }
    return Double(sum) / Double(bytes.count)
  }
}

/// A JPEG file cut at its markers (ITU-T T.81, annex B).
struct JPEGSegments {
  /// Marker codes in the order of the file, SOI and EOI left out, up to the first scan and at each further one.
  private(set) var markers: [UInt8] = []
  /// The position of each marker's payload.
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
