internal import SyntheticMedia

/// A picture to be filmed, read at any point.
struct Texture: Sendable {
  /// Pixels in a row.
  let width: Int
  /// The number of rows.
  let height: Int
  private let pixels: [SIMD4<UInt8>]

  /// Takes colours row by row and softens them a little, as a lens does.
  init(width: Int, height: Int, colors: [Color]) {
    self.width = width
    self.height = height
    var colors = colors
    for _ in 0..<2 {
      colors = Self.softened(colors, step: 1, count: width, width: width, height: height)
      colors = Self.softened(colors, step: width, count: height, width: width, height: height)
    }
    pixels = colors.map { color in
      let bytes = saturate(color) * 255
      return SIMD4(UInt8(bytes.x + 0.5), UInt8(bytes.y + 0.5), UInt8(bytes.z + 0.5), 0)
    }
  }

  /// The colour at a point in pixels, between its four neighbours; the nearest edge's outside.
  func color(_ x: Float, _ y: Float) -> Color {
    let (x, y) = (min(max(x, 0), Float(width - 2)), min(max(y, 0), Float(height - 2)))
    let (column, row) = (Int(x), Int(y))
    let (across, down) = (x - Float(column), y - Float(row))
    let index = row * width + column
    let upper = mix(at(index), at(index + 1), across)
    let lower = mix(at(index + width), at(index + width + 1), across)
    return mix(upper, lower, down) * (1 / 255)
  }

  private func at(_ index: Int) -> Color {
    let pixel = pixels[index]
    return Color(Float(pixel.x), Float(pixel.y), Float(pixel.z))
  }

  /// One pass of the kernel 1 2 1 along rows (`step` 1) or columns (`step` the width).
  private static func softened(_ colors: [Color], step: Int, count: Int, width: Int, height: Int) -> [Color] {
    colors.indices.map { index in
      let position = step == 1 ? index % width : index / width
      let before = position > 0 ? colors[index - step] : colors[index]
      let after = position < count - 1 ? colors[index + step] : colors[index]
      return before * 0.25 + colors[index] * 0.5 + after * 0.25
    }
  }
}
