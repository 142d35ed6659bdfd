import Glibc

/// A placeholder for an opaque image in at most 25 bytes, by Evan Wallace's ThumbHash
/// (https://evanw.github.io/thumbhash/).
///
/// Luma and two colour differences are stored as a few low frequencies of their cosine transform, four bits each.
package struct ThumbHash: Hashable, Sendable {
  /// The maximum length of the edges of an image; more pixels would not improve the hash.
  package static let maxEdge = 100

  /// The hash, 5 bytes of header and the frequencies.
  package let bytes: [UInt8]

  /// Hashes an image of at most 100 x 100 pixels.
  package init(_ image: RGBImage) {
    let (width, height) = (image.width, image.height)
    precondition(max(width, height) <= Self.maxEdge, "ThumbHash takes at most 100 x 100 pixels")
    let longest = Double(max(width, height))
    let columns = max(1, Int((7 * Double(width) / longest).rounded()))
    let rows = max(1, Int((7 * Double(height) / longest).rounded()))
    let planes = Planes(image)
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

  /// The hash as text: base64 with padding (RFC 4648, section 4).
  package var base64: String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for sextet in 0...group.count { text.append(alphabet[bits >> (18 - 6 * sextet) & 63]) }
      text.append(String(repeating: "=", count: 3 - group.count))
    }
    return text
  }
}

/// The three components that are transformed; each is a linear combination of sRGB components.
private struct Planes {
  private(set) var luma: [Double] = []
  private(set) var yellowBlue: [Double] = []
  private(set) var redGreen: [Double] = []

  init(_ image: RGBImage) {
    for at in stride(from: 0, to: image.bytes.count, by: 3) {
      let (red, green, blue) =
        (Double(image.bytes[at]) / 255, Double(image.bytes[at + 1]) / 255, Double(image.bytes[at + 2]) / 255)
      luma.append((red + green + blue) / 3)
      yellowBlue.append((red + green) / 2 - blue)
      redGreen.append(red - green)
    }
  }
}

extension Double {
  fileprivate func quantized(to top: Double) -> Int { Int((self * top).rounded()) }
  fileprivate var quantizedSigned: Int { Int((31.5 + 31.5 * self).rounded()) }
}

/// The cosines of a transform over `size` samples: row `frequency`, column `position`.
struct CosineTable {
  /// The maximum number of frequencies along an edge.
  private static let frequencies = 7
  /// The number of samples along the edge.
  let size: Int
  private let values: [Double]

  init(size: Int) {
    self.size = size
    values = (0..<Self.frequencies * size).map { index in
      let (frequency, position) = index.quotientAndRemainder(dividingBy: size)
      let cosine = cos(Double.pi / Double(size) * Double(frequency) * (Double(position) + 0.5))
      // The last bit of the C library's result depends on the processor; 40 fractional bits do not.
      return (cosine * 0x1p40).rounded() * 0x1p-40
    }
  }

  subscript(frequency: Int, position: Int) -> Double { values[frequency * size + position] }
}

/// One component of an image as its mean and its lowest frequencies.
struct ThumbHashChannel {
  /// The mean of the values.
  let mean: Double
  /// The largest magnitude among the frequencies.
  let scale: Double
  /// The frequencies from 0 for `-scale` to 1 for `scale`, row by row of a triangle.
  let normalized: [Double]

  /// Transforms values that are stored row by row.
  init(_ values: [Double], horizontal: CosineTable, vertical: CosineTable, columns: Int, rows: Int) {
    var mean = 0.0
    var frequencies: [Double] = []
    for row in 0..<rows {
      for column in 0..<columns where column * rows < columns * (rows - row) {
        var sum = 0.0
        for y in 0..<vertical.size {
          var line = 0.0
          for x in 0..<horizontal.size { line += values[y * horizontal.size + x] * horizontal[column, x] }
          sum += line * vertical[row, y]
        }
        let frequency = sum / Double(values.count)
        if row == 0 && column == 0 { mean = frequency } else { frequencies.append(frequency) }
      }
    }
    let scale = frequencies.map(\.magnitude).max() ?? 0
    self.mean = mean
    self.scale = scale
    normalized = scale == 0 ? frequencies : frequencies.map { 0.5 + 0.5 / scale * $0 }
  }
}
