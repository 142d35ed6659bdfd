import Glibc
import SeededRandom
internal import SyntheticMedia

/// An image that is sampled at any point.
struct Texture: Sendable {
  let width: Int
  let height: Int
  private let pixels: [SIMD4<UInt8>]

  /// - Parameter colors: row by row; they are blurred a little, as by a lens.
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

  /// Returns the colour at a point in pixels by bilinear interpolation; outside of the image, that of the nearest edge.
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

/// Textures with the statistics of photographs: leaves of all sizes that cover each other ("dead leaves", Lee,
/// Mumford and Huang, "Occlusion models for natural images", 2001), each with a surface of 1/f noise.
enum DeadLeaves {
  /// Radii in pixels; their frequency falls with the third power.
  private static let radii: ClosedRange<Float> = 10...600

  /// A texture of `count` leaves, the same for the same seed.
  static func texture(width: Int, height: Int, count: Int, seed: UInt32) -> Texture {
    var random = SplitMix64(seed: UInt64(seed))
    let surfaces = (0..<3).map { surface(width: width, height: height, seed: seed &* 16 &+ UInt32($0)) }
    var colors = (0..<width * height).map { index in
      Color(surfaces[0][index], surfaces[1][index], surfaces[2][index]) * (30 / 255) + 120 / 255
    }
    for index in 0..<count {
      // Some large leaves among the last keep wide areas without detail.
      var radius = powerLawRadius(random.uniform(0, 1))
      if index % 60 == 0 { radius = random.uniform(100, 500) }
      let leaf = Leaf(radius: radius, width: width, height: height, random: &random)
      leaf.paint(surfaces[Int.random(in: 0..<3, using: &random)], over: &colors, width: width, height: height)
    }
    return Texture(width: width, height: height, colors: colors)
  }

  private static func powerLawRadius(_ quantile: Float) -> Float {
    let (low, high) = (1 / (radii.lowerBound * radii.lowerBound), 1 / (radii.upperBound * radii.upperBound))
    return 1 / (quantile * (low - high) + high).squareRoot()
  }

  /// Returns a field of 1/f noise with mean 0 and standard deviation 1.
  private static func surface(width: Int, height: Int, seed: UInt32) -> [Float] {
    let noise = Noise(seed: seed)
    let field = (0..<width * height).map { index in
      // Amplitudes of f^-1.2: in two dimensions each octave is weaker than the previous one by 2^0.2.
      noise.fractal(Float(index % width) / 400, Float(index / width) / 400, octaves: 9, persistence: 0.87) - 0.5
    }
    let variance = field.reduce(0) { $0 + Double($1 * $1) } / Double(field.count)
    let scale = Float(1 / variance.squareRoot())
    return field.map { $0 * scale }
  }
}

/// One leaf: an ellipse, or the rectangle around it, with a colour, a surface and a vertical gradient.
private struct Leaf {
  let center: SIMD2<Float>
  let radii: SIMD2<Float>
  let color: Color
  let contrast: Float
  let isEllipse: Bool

  init(radius: Float, width: Int, height: Int, random: inout SplitMix64) {
    center = SIMD2(random.uniform(0, Float(width)), random.uniform(0, Float(height)))
    let aspect = random.uniform(0.6, 1.6)
    radii = SIMD2(radius * aspect, radius / aspect)
    let grey = random.normal(118, 55)
    let tint = Color(random.normal(118, 55), random.normal(118, 55), random.normal(118, 55))
    color = (tint * 0.5 + grey * 0.5) * (1 / 255)
    contrast = random.uniform(3, 22) / 255
    isEllipse = random.uniform(0, 1) < 0.7
  }

  func paint(_ surface: [Float], over colors: inout [Color], width: Int, height: Int) {
    let rows = max(0, Int(center.y - radii.y))..<max(0, min(height, Int(center.y + radii.y) + 1))
    let columns = max(0, Int(center.x - radii.x))..<max(0, min(width, Int(center.x + radii.x) + 1))
    for y in rows {
      for x in columns {
        let offset = (SIMD2(Float(x), Float(y)) - center) / radii
        if isEllipse && (offset * offset).sum() >= 1 { continue }
        let index = y * width + x
        colors[index] = color + (surface[index] * contrast + 25 / 255 * offset.y)
      }
    }
  }
}

extension SplitMix64 {
  /// Returns a uniformly distributed number.
  mutating func uniform(_ low: Float, _ high: Float) -> Float { Float.random(in: low..<high, using: &self) }

  /// Returns a normally distributed number (Box-Muller transform).
  mutating func normal(_ mean: Float, _ deviation: Float) -> Float {
    mean + deviation * (-2 * log(uniform(1e-7, 1))).squareRoot() * cos(2 * .pi * uniform(0, 1))
  }
}
