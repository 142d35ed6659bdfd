internal import CKernels

/// A mapping of all 8-bit YCbCr colours of the full range to others, computed once and applied to any number of pictures.
package final class ColorCorrection: Sendable {
  let luma: [UInt16]
  let chroma: [UInt16]

  private static let nodes = Int(CKERNELS_CORRECTION_NODES)
  private static let steps = Int(CKERNELS_CORRECTION_STEPS)

  /// Asks `map` once for the colours of all nodes: RGB triples of 16-bit samples, which it returns mapped.
  ///
  /// What is kept is how far each colour moves: nodes that lie outside of what RGB has move as the nearest that it has.
  package init<Failure: Error>(_ map: ([UInt16]) throws(Failure) -> [UInt16]) throws(Failure) {
    let colors = Self.nodeColors
    let mapped = try map(colors)
    precondition(mapped.count == colors.count, "a colour is missing")
    var luma: [UInt16] = []
    var chroma: [UInt16] = []
    luma.reserveCapacity(Self.nodes * Self.nodes * 256)
    chroma.reserveCapacity(Self.nodes * Self.nodes * Self.steps * 2)
    for u in 0..<Self.nodes {
      for v in 0..<Self.nodes {
        let first = 3 * (u * Self.nodes + v) * Self.steps
        let moved = (0..<Self.steps).map { step in
          let at = first + 3 * step
          return SIMD3(Double(step * 4), Double(u * 8), Double(v * 8)) + Self.codes(mapped, at) - Self.codes(colors, at)
        }
        // Between two steps luma grows evenly.
        for value in 0..<256 {
          let (step, rest) = (value / 4, Double(value % 4) / 4)
          luma.append(Self.entry(moved[step].x + rest * (moved[step + 1].x - moved[step].x)))
        }
        for codes in moved { chroma += [Self.entry(codes.y), Self.entry(codes.z)] }
      }
    }
    // Vector units read four bytes where an entry has two.
    self.luma = luma + [0]
    self.chroma = chroma
  }

  // The last nodes lie at 256, as far as 16 bits reach: what lies just below is interpolated from them.
  private static func entry(_ code: Double) -> UInt16 { UInt16(min(max(code * 256, 0), 65535).rounded()) }

  private static func codes(_ colors: [UInt16], _ at: Int) -> SIMD3<Double> {
    let (r, g, b) = (Double(colors[at]) / 257, Double(colors[at + 1]) / 257, Double(colors[at + 2]) / 257)
    let y = 0.299 * r + 0.587 * g + 0.114 * b
    return SIMD3(y, 128 + (b - y) / 1.772, 128 + (r - y) / 1.402)
  }

  /// The colours of the nodes, as far as RGB has them: what lies outside is brought to the nearest edge.
  private static let nodeColors: [UInt16] = {
    var colors: [UInt16] = []
    colors.reserveCapacity(3 * nodes * nodes * steps)
    for u in 0..<nodes {
      for v in 0..<nodes {
        for step in 0..<steps {
          let (y, cb, cr) = (Double(step * 4), Double(u * 8) - 128, Double(v * 8) - 128)
          for value in [y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb] {
            colors.append(UInt16((min(max(value, 0), 255) * 257).rounded()))
          }
        }
      }
    }
    return colors
  }()
}
