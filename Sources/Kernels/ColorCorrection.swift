internal import CKernels

/// A lookup table from 8-bit full-range YCbCr colours to other ones, computed once for any number of images.
package final class ColorCorrection: Sendable {
  let luma: [UInt16]
  let chroma: [UInt16]

  private static let nodes = Int(CKERNELS_CORRECTION_NODES)
  private static let steps = Int(CKERNELS_CORRECTION_STEPS)

  /// Computes the table. `map` is called once with the colours of all nodes as 16-bit RGB triples and returns their
  /// corrected colours.
  ///
  /// The table applies the difference between both. A node outside the RGB gamut gets the difference of the nearest
  /// colour inside.
  package init<Failure: Error>(_ map: ([UInt16]) throws(Failure) -> [UInt16]) throws(Failure) {
    let colors = Self.nodeColors
    let mapped = try map(colors)
    precondition(mapped.count == colors.count, "the number of mapped colours is wrong")
    var luma: [UInt16] = []
    var chroma: [UInt16] = []
    luma.reserveCapacity(Self.nodes * Self.nodes * 256)
    chroma.reserveCapacity(Self.nodes * Self.nodes * Self.steps * 2)
    for u in 0..<Self.nodes {
      for v in 0..<Self.nodes {
        let first = 3 * (u * Self.nodes + v) * Self.steps
        let corrected = (0..<Self.steps).map { step in
          let at = first + 3 * step
          return SIMD3(Double(step * 4), Double(u * 8), Double(v * 8)) + Self.codes(mapped, at) - Self.codes(colors, at)
        }
        // Luma is interpolated between two steps.
        for value in 0..<256 {
          let (step, rest) = (value / 4, Double(value % 4) / 4)
          luma.append(Self.entry(corrected[step].x + rest * (corrected[step + 1].x - corrected[step].x)))
        }
        for codes in corrected { chroma += [Self.entry(codes.y), Self.entry(codes.z)] }
      }
    }
    // Vector instructions read four bytes for an entry of two.
    self.luma = luma + [0]
    self.chroma = chroma
  }

  // The last nodes are at code 256, which 16 bits clamp to just below it; the codes between are interpolated from them.
  private static func entry(_ code: Double) -> UInt16 { UInt16(min(max(code * 256, 0), 65535).rounded()) }

  private static func codes(_ colors: [UInt16], _ at: Int) -> SIMD3<Double> {
    let (r, g, b) = (Double(colors[at]) / 257, Double(colors[at + 1]) / 257, Double(colors[at + 2]) / 257)
    let y = 0.299 * r + 0.587 * g + 0.114 * b
    return SIMD3(y, 128 + (b - y) / 1.772, 128 + (r - y) / 1.402)
  }

  /// The colours of the nodes, clamped to the RGB gamut.
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
