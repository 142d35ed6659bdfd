import Glibc

/// Where a hand that holds a phone points it: slow drift, breathing, and a small tremor.
package struct HandheldCamera: Sendable {
  private let phase: Float
  private let strength: Float

  /// `strength` is the drift in picture widths; `phase` makes two hands differ.
  package init(strength: Float, phase: Float) {
    self.strength = strength
    self.phase = phase
  }

  /// How far the picture is moved from its place, in picture widths, and turned, in radians.
  package func pose(at time: Float) -> (x: Float, y: Float, angle: Float) {
    let t = time + phase
    let x = 0.7 * sin(1.1 * t) + 0.3 * sin(2.7 * t + 1.3) + 0.07 * sin(9.1 * t)
    let y = 0.6 * sin(0.9 * t + 2.1) + 0.35 * sin(2.2 * t) + 0.06 * sin(10.7 * t + 0.4)
    let angle = 0.6 * sin(0.8 * t + 0.7) + 0.2 * sin(2.9 * t)
    return (strength * x, strength * y, strength * 0.6 * angle)
  }
}
