/// Numbers that look random and are a pure function of a seed and a position: the same picture on every run.
package struct Noise: Sendable {
  private let seed: UInt32

  package init(seed: UInt32) { self.seed = seed &* 0x9E37_79B9 }

  /// A value from 0 to 1 for a point of the whole-numbered grid; neighbours have nothing in common.
  package func value(_ x: Int32, _ y: Int32) -> Float {
    var hash = seed &+ UInt32(bitPattern: x) &* 0x85EB_CA6B &+ UInt32(bitPattern: y) &* 0xC2B2_AE35
    hash = (hash ^ (hash >> 15)) &* 0x2C1B_3C6D
    hash = (hash ^ (hash >> 12)) &* 0x297A_2D39
    hash ^= hash >> 15
    return Float(hash >> 8) * 0x1p-24
  }

  /// A value from 0 to 1 for a whole number.
  package func value(_ x: Int) -> Float { value(Int32(truncatingIfNeeded: x), 0) }

  /// A smooth field from 0 to 1 with features of about one unit.
  package func smooth(_ x: Float, _ y: Float) -> Float {
    let (left, top) = (x.rounded(.down), y.rounded(.down))
    let (column, row) = (Int32(left), Int32(top))
    let (across, down) = (Self.fade(x - left), Self.fade(y - top))
    let upper = mix(value(column, row), value(column &+ 1, row), across)
    let lower = mix(value(column, row &+ 1), value(column &+ 1, row &+ 1), across)
    return mix(upper, lower, down)
  }

  /// A sum of smooth fields, each twice as fine as the one before and `persistence` times as strong; 0 to 1, mostly
  /// near 0.5.
  package func fractal(_ x: Float, _ y: Float, octaves: Int, persistence: Float = 0.5) -> Float {
    var (x, y, weight, sum, total) = (x, y, Float(1), Float(0), Float(0))
    for _ in 0..<octaves {
      sum += weight * smooth(x, y)
      total += weight
      weight *= persistence
      // Turned by an angle of which no multiple is a right one, so that the grids of the octaves never line up.
      (x, y) = (1.6 * x + 1.2 * y + 17.3, -1.2 * x + 1.6 * y + 9.1)
    }
    return sum / total
  }

  private static func fade(_ value: Float) -> Float { value * value * (3 - 2 * value) }
}
