/// Red, green and blue from 0 to 1 as they are shown (BT.709 transfer applied).
package typealias Color = SIMD3<Float>

/// `from` at 0, `to` at 1, a line between.
package func mix(_ from: Color, _ to: Color, _ amount: Float) -> Color { from + (to - from) * amount }

/// `from` at 0, `to` at 1, a line between.
package func mix(_ from: Float, _ to: Float, _ amount: Float) -> Float { from + (to - from) * amount }

/// `value` cut to 0 to 1.
package func saturate(_ value: Float) -> Float { min(max(value, 0), 1) }

/// Each component cut to 0 to 1.
package func saturate(_ color: Color) -> Color { Color(saturate(color.x), saturate(color.y), saturate(color.z)) }

/// 0 below `low`, 1 above `high`, a curve without corners between.
package func smoothstep(_ low: Float, _ high: Float, _ value: Float) -> Float {
  let amount = saturate((value - low) / (high - low))
  return amount * amount * (3 - 2 * amount)
}

/// A colour for each position along a line, straight between the stops.
package struct Gradient: Sendable {
  private let stops: [(position: Float, color: Color)]

  /// Stops in rising order of their positions, at least one.
  package init(_ stops: [(position: Float, color: Color)]) { self.stops = stops }

  /// The colour at a position; that of the first or last stop outside them.
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
