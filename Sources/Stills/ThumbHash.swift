import Glibc

/// A picture in at most 25 bytes, to show while the real one loads: Evan Wallace's ThumbHash
/// (https://evanw.github.io/thumbhash/), for opaque pictures.
///
/// Luma and two colour differences are each stored as a few low frequencies of their cosine transform, four bits each.
package struct ThumbHash: Hashable, Sendable {
  /// The longest edge of a picture that is hashed; more pixels would only cost time.
  package static let longestEdge = 100

  /// The hash, 5 bytes of header and the frequencies.
  package let bytes: [UInt8]

  /// Hashes a picture of at most 100 x 100 pixels.
  package init(_ picture: RGBView) {
    let (width, height) = (picture.width, picture.height)
    precondition(max(width, height) <= Self.longestEdge, "ThumbHash takes at most 100 x 100 pixels")
    let longest = Double(max(width, height))
    let columns = max(1, Int((7 * Double(width) / longest).rounded()))
    let rows = max(1, Int((7 * Double(height) / longest).rounded()))
    let planes = Planes(picture)
    let horizontal = CosineTable(size: width)
    let vertical = CosineTable(size: height)
    func channel(_ values: [Double], _ columns: Int, _ rows: Int) -> ThumbHashChannel {
      ThumbHashChannel(values, horizontal: horizontal, vertical: vertical, columns: columns, rows: rows)
    }
    let luma = channel(planes.luma, max(3, columns), max(3, rows))
    let yellowBlue = channel(planes.yellowBlue, 3, 3)
    let redGreen = channel(planes.redGreen, 3, 3)

    let isLandscape = width > height
    let first =
      luma.mean.quantized(to: 63) | yellowBlue.mean.quantizedSigned << 6 | redGreen.mean.quantizedSigned << 12
      | luma.scale.quantized(to: 31) << 18
    let second =
      (isLandscape ? rows : columns) | yellowBlue.scale.quantized(to: 63) << 3 | redGreen.scale.quantized(to: 63) << 9
      | (isLandscape ? 1 << 15 : 0)
    var bytes = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
    let frequencies = [luma, yellowBlue, redGreen].flatMap(\.normalized).map { UInt8($0.quantized(to: 15)) }
    for index in stride(from: 0, to: frequencies.count, by: 2) {
      let high = index + 1 < frequencies.count ? frequencies[index + 1] : 0
      bytes.append(frequencies[index] | high << 4)
    }
    self.bytes = bytes
  }

  /// Hashes a picture of at most 100 x 100 pixels.
  package init(_ picture: RGBImage) {
    self = picture.withView { ThumbHash($0) }
  }

  /// The mean colour, each component 0 to 1.
  package var averageColor: (red: Double, green: Double, blue: Double) {
    let header = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
    let luma = Double(header & 63) / 63
    let yellowBlue = Double(header >> 6 & 63) / 31.5 - 1
    let redGreen = Double(header >> 12 & 63) / 31.5 - 1
    let blue = luma - 2 / 3 * yellowBlue
    let red = (3 * luma - blue + redGreen) / 2
    let green = red - redGreen
    func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }
    return (clamped(red), clamped(green), clamped(blue))
  }

  /// Width by height, as near as one to seven to seven can tell.
  package var aspectRatio: Double {
    let shorter = Double(bytes[3] & 7)
    return bytes[4] & 0x80 != 0 ? 7 / shorter : shorter / 7
  }
}

/// The three components that are transformed; each is linear in sRGB.
private struct Planes {
  private(set) var luma: [Double] = []
  private(set) var yellowBlue: [Double] = []
  private(set) var redGreen: [Double] = []

  init(_ picture: RGBView) {
    for y in 0..<picture.height {
      for x in 0..<picture.width {
        let pixel = picture.base + y * picture.stride + 3 * x
        let red = Double(pixel.load(as: UInt8.self)) / 255
        let green = Double(pixel.load(fromByteOffset: 1, as: UInt8.self)) / 255
        let blue = Double(pixel.load(fromByteOffset: 2, as: UInt8.self)) / 255
        luma.append((red + green + blue) / 3)
        yellowBlue.append((red + green) / 2 - blue)
        redGreen.append(red - green)
      }
    }
  }
}

extension Double {
  fileprivate func quantized(to top: Double) -> Int { Int((self * top).rounded()) }
  fileprivate var quantizedSigned: Int { Int((31.5 + 31.5 * self).rounded()) }
}
