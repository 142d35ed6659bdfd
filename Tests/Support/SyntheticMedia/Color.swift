/// Red, green and blue from 0 to 1, with the BT.709 transfer function applied.
package typealias Color = SIMD3<Float>

/// Interpolates linearly: `from` at 0, `to` at 1.
package func mix(_ from: Color, _ to: Color, _ amount: Float) -> Color { from + (to - from) * amount }

/// Interpolates linearly: `from` at 0, `to` at 1.
package func mix(_ from: Float, _ to: Float, _ amount: Float) -> Float { from + (to - from) * amount }

/// Clamps a value to 0 to 1.
package func saturate(_ value: Float) -> Float { min(max(value, 0), 1) }

/// Clamps each component to 0 to 1.
package func saturate(_ color: Color) -> Color { Color(saturate(color.x), saturate(color.y), saturate(color.z)) }

/// Returns 0 below `low`, 1 above `high`, and a smooth transition between them.
package func smoothstep(_ low: Float, _ high: Float, _ value: Float) -> Float {
  let amount = saturate((value - low) / (high - low))
  return amount * amount * (3 - 2 * amount)
}

/// A colour gradient, linear between its stops.
package struct Gradient: Sendable {
  private let stops: [(position: Float, color: Color)]

  /// Creates a gradient of at least one stop, by increasing position.
  package init(_ stops: [(position: Float, color: Color)]) { self.stops = stops }

  /// Returns the colour at a position; outside the stops, that of the first or last one.
  package func color(at position: Float) -> Color {
    guard var before = stops.first, position > before.position else { return stops[0].color }
    for stop in stops.dropFirst() {
      if position < stop.position {
        return mix(before.color, stop.color, (position - before.position) / (stop.position - before.position))
      }
      before = stop
    }
    return before.color
  }
}

/// Pseudo-random noise as a pure function of a seed and a position, so that every run gives the same frames.
package struct Noise: Sendable {
  private let seed: UInt32

  package init(seed: UInt32) { self.seed = seed &* 0x9E37_79B9 }

  /// Returns a value from 0 to 1 for an integer position, independent of its neighbours.
  package func value(_ x: Int32, _ y: Int32) -> Float {
    var hash = seed &+ UInt32(bitPattern: x) &* 0x85EB_CA6B &+ UInt32(bitPattern: y) &* 0xC2B2_AE35
    hash = (hash ^ (hash >> 15)) &* 0x2C1B_3C6D
    hash = (hash ^ (hash >> 12)) &* 0x297A_2D39
    hash ^= hash >> 15
    return Float(hash >> 8) * 0x1p-24
  }

  /// Returns a value from 0 to 1 for an integer.
  package func value(_ x: Int) -> Float { value(Int32(truncatingIfNeeded: x), 0) }

  /// Returns smooth noise from 0 to 1 with features of about one unit.
  package func smooth(_ x: Float, _ y: Float) -> Float {
    let (left, top) = (x.rounded(.down), y.rounded(.down))
    let (column, row) = (Int32(left), Int32(top))
    let (across, down) = (Self.fade(x - left), Self.fade(y - top))
    let upper = mix(value(column, row), value(column &+ 1, row), across)
    let lower = mix(value(column, row &+ 1), value(column &+ 1, row &+ 1), across)
    return mix(upper, lower, down)
  }

  /// Returns a weighted sum of smooth noise, each octave twice as fine as the one before and `persistence` times as
  /// strong: 0 to 1, mostly near 0.5.
  package func fractal(_ x: Float, _ y: Float, octaves: Int, persistence: Float = 0.5) -> Float {
    var (x, y, weight, sum, total) = (x, y, Float(1), Float(0), Float(0))
    for _ in 0..<octaves {
      sum += weight * smooth(x, y)
      total += weight
      weight *= persistence
      // Rotated by an angle that is not a rational part of a right angle, so that the grids of the octaves never align.
      (x, y) = (1.6 * x + 1.2 * y + 17.3, -1.2 * x + 1.6 * y + 9.1)
    }
    return sum / total
  }

  private static func fade(_ value: Float) -> Float { value * value * (3 - 2 * value) }
}
