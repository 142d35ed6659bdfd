import Foundation

/// A few blurred pixels of an image, from its ThumbHash: what a screen shows until the image is loaded.
///
/// ```swift
/// if let placeholder = asset.placeholder {
///   let pixels = placeholder.rgba  // 4 bytes for each of width * height pixels, row by row
/// }
/// ```
public struct Placeholder: Sendable, Hashable {
  /// In pixels, at most 32.
  public let width: Int
  /// In pixels, at most 32.
  public let height: Int
  /// Red, green, blue and alpha (not premultiplied) of each pixel, row by row from the top left.
  public let rgba: [UInt8]

  /// Decodes a ThumbHash in base64; nil if it is none.
  public init?(thumbhash: String) {
    guard let data = Data(base64Encoded: thumbhash) else { return nil }
    self.init(bytes: [UInt8](data))
  }

  private init?(bytes: [UInt8]) {
    guard bytes.count >= 5 else { return nil }
    let values = bytes.map(Int.init)
    let colors = values[0] | values[1] << 8 | values[2] << 16
    let shape = values[3] | values[4] << 8
    let hasAlpha = colors >> 23 == 1
    let isLandscape = shape >> 15 == 1
    let (long, short) = (hasAlpha ? 5 : 7, max(1, shape & 7))
    let (columns, rows) = isLandscape ? (long, short) : (short, long)
    var nibbles = Nibbles(bytes: values, position: hasAlpha ? 12 : 10)
    // A little more colour than was stored makes up for what the rounding takes.
    guard
      let light = Channel(
        mean: Double(colors & 63) / 63, scale: Double(colors >> 18 & 31) / 31, max(3, columns), max(3, rows), &nibbles),
      let yellowBlue = Channel(
        mean: Double(colors >> 6 & 63) / 31.5 - 1, scale: Double(shape >> 3 & 63) / 63 * 1.25, 3, 3, &nibbles),
      let redGreen = Channel(
        mean: Double(colors >> 12 & 63) / 31.5 - 1, scale: Double(shape >> 9 & 63) / 63 * 1.25, 3, 3, &nibbles)
    else { return nil }
    var alpha = Channel(mean: 1)
    if hasAlpha {
      guard bytes.count > 5,
        let own = Channel(mean: Double(values[5] & 15) / 15, scale: Double(values[5] >> 4) / 15, 5, 5, &nibbles)
      else { return nil }
      alpha = own
    }
    let ratio = Double(columns) / Double(rows)
    (width, height) = (Self.side(min(1, ratio)), Self.side(min(1, 1 / ratio)))
    rgba = Self.pixels(width: width, height: height, light, yellowBlue, redGreen, alpha)
  }

  private static func side(_ part: Double) -> Int { Int((32 * part).rounded()) }

  private static func pixels(
    width: Int, height: Int, _ light: Channel, _ yellowBlue: Channel, _ redGreen: Channel, _ alpha: Channel
  ) -> [UInt8] {
    let (across, down) = (cosines(width), cosines(height))
    var rgba: [UInt8] = []
    rgba.reserveCapacity(width * height * 4)
    for y in 0..<height {
      for x in 0..<width {
        let (l, p, q) = (
          light.value(across[x], down[y]), yellowBlue.value(across[x], down[y]), redGreen.value(across[x], down[y])
        )
        let blue = l - 2 / 3 * p
        let red = (3 * l - blue + q) / 2
        for value in [red, red - q, blue, alpha.value(across[x], down[y])] {
          rgba.append(UInt8(clamping: Int((min(max(value, 0), 1) * 255).rounded())))
        }
      }
    }
    return rgba
  }

  private static func cosines(_ size: Int) -> [[Double]] {
    (0..<size).map { at in
      (0..<7).map { frequency in cos(Double.pi / Double(size) * (Double(at) + 0.5) * Double(frequency)) }
    }
  }
}

/// The parts of four bits in which a ThumbHash stores waves, the low half of a byte first.
private struct Nibbles {
  let bytes: [Int]
  var position: Int

  mutating func next() -> Int? {
    guard position >> 1 < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position >> 1] >> (position & 1) * 4 & 15
  }
}

/// One channel of a picture: its mean, and waves of a few frequencies.
private struct Channel {
  private struct Wave {
    let column: Int
    let row: Int
    let size: Double
  }

  private let mean: Double
  private var waves: [Wave] = []

  init(mean: Double) { self.mean = mean }

  /// Reads the waves; nil if the hash ends before.
  init?(mean: Double, scale: Double, _ columns: Int, _ rows: Int, _ nibbles: inout Nibbles) {
    self.mean = mean
    for row in 0..<rows {
      var column = row == 0 ? 1 : 0
      while column * rows < columns * (rows - row) {
        guard let level = nibbles.next() else { return nil }
        waves.append(Wave(column: column, row: row, size: (Double(level) / 7.5 - 1) * scale))
        column += 1
      }
    }
  }

  func value(_ across: [Double], _ down: [Double]) -> Double {
    waves.reduce(mean) { $0 + 2 * $1.size * across[$1.column] * down[$1.row] }
  }
}
