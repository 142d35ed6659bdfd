/// Rows of bytes in memory of exactly their size.
package final class GuardedPlane {
  /// Where rows lie, and which end of their memory is guarded.
  package struct Layout: Hashable, Sendable {
    package enum Rows: Sendable, CaseIterable {
      /// Without padding.
      case packed
      /// With a few bytes between rows.
      case padded
      /// Bottom row first: the stride is negative.
      case upwards
      /// Further from each other than 32 bits can express.
      case far
      /// As far from the guards as no access beyond a row reaches.
      case roomy
    }

    package let rows: Rows
    package let edge: GuardedMemory.Edge

    package init(rows: Rows, edge: GuardedMemory.Edge) {
      self.rows = rows
      self.edge = edge
    }

    /// The layouts that leave no room for a wrong access. There are not enough addresses for many rows far from each other.
    package static func exact(height: Int) -> [Layout] {
      [Rows.packed, .padded, .upwards, .far].filter { $0 != .far || height <= 100 }.flatMap { rows in
        [GuardedMemory.Edge.start, .end].map { Layout(rows: rows, edge: $0) }
      }
    }
    /// The layout whose results are the reference.
    package static let roomy = Layout(rows: .roomy, edge: .start)

    func stride(_ width: Int) -> Int {
      switch rows {
      case .packed: width
      case .padded: width + 6
      case .upwards: -width - 6
      case .far: width + 1 << 31
      case .roomy: width + margin
      }
    }

    var margin: Int { rows == .roomy ? 4096 : 0 }
  }

  package let width: Int
  package let height: Int
  /// The distance in bytes from one row to the next.
  package let stride: Int
  /// The first byte of the top row.
  package let base: UnsafeMutablePointer<UInt8>
  private let memory: GuardedMemory

  /// - Parameters:
  ///   - width: bytes of a row.
  ///   - height: the number of rows.
  ///   - value: returns the byte in a column of a row.
  package init(width: Int, height: Int, layout: Layout, _ value: (_ x: Int, _ y: Int) -> UInt8) {
    self.width = width
    self.height = height
    stride = layout.stride(width)
    let span = max(height - 1, 0) * abs(stride)
    memory = GuardedMemory(count: height > 0 ? span + width + 2 * layout.margin : 0, edge: layout.edge)
    let first = memory.base + layout.margin + (stride < 0 ? span : 0)
    base = first.assumingMemoryBound(to: UInt8.self)
    for y in 0..<height { for x in 0..<width { base[y * stride + x] = value(x, y) } }
  }

  /// The bytes of all rows, from top to bottom.
  package var bytes: [UInt8] {
    (0..<height).flatMap { y in UnsafeBufferPointer(start: base + y * stride, count: width) }
  }
}
