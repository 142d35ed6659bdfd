internal import CKernels

/// Makes a plane of another size, upright, while its rows come in, top to bottom: few of them are held at a time.
///
/// Rows are weighed first. Strips of the result are turned so that their columns lie in rows, weighed again, and laid into
/// the target as its orientation asks, which costs nothing beyond the turn back.
package final class PlaneScaler {
  /// Where the rows lie that come next.
  private let ring: AlignedBuffer
  private let rowStride: Int
  private let capacity: Int
  private let width: Int
  private let height: Int
  private let vertical: ResamplingFilter
  private let horizontal: ResamplingFilter
  private let orientation: Orientation
  private let target: MutablePlane
  private let portable: Bool

  /// Rows of the strip that is being filled, and how many it has.
  private let strip: AlignedBuffer
  private let turned: AlignedBuffer
  private let reduced: AlignedBuffer
  private var stripRows = 0

  /// Rows that came in, rows of the strips that are finished, and rows that were made in all.
  private var received = 0
  private var laid = 0
  private var made = 0
  private var rows: [UnsafePointer<UInt8>?]

  private static let stripHeight = 64

  /// - Parameters:
  ///   - width: of the rows that come in.
  ///   - height: how many come.
  ///   - rowBytes: that a row takes where it is written, padding included.
  ///   - band: the most rows that come at once.
  ///   - target: upright; its memory must live as long as the scaler.
  ///   - orientation: how the rows become upright.
  package init(
    width: Int, height: Int, rowBytes: Int, band: Int, target: MutablePlane, orientation: Orientation = .upright,
    portable: Bool = false
  ) {
    let size = orientation.inverse.size(width: target.width, height: target.height)
    vertical = ResamplingFilter.shared(from: height, to: size.height)
    horizontal = ResamplingFilter.shared(from: width, to: size.width)
    self.width = width
    self.height = height
    self.target = target
    self.orientation = orientation
    self.portable = portable
    capacity = vertical.taps + band
    rowStride = AlignedBuffer.aligned(max(rowBytes, width))
    ring = AlignedBuffer(count: capacity * rowStride)
    let stripStride = AlignedBuffer.aligned(width)
    strip = AlignedBuffer(count: Self.stripHeight * stripStride)
    turned = AlignedBuffer(count: Self.stripHeight * width)
    reduced = AlignedBuffer(count: Self.stripHeight * size.width)
    rows = Array(repeating: nil, count: vertical.taps)
  }

  /// Where the row after so many further ones is to be written.
  package func nextRow(after further: Int = 0) -> UnsafeMutablePointer<UInt8> {
    row((received + further) % capacity)
  }

  private func row(_ slot: Int) -> UnsafeMutablePointer<UInt8> {
    (ring.base + slot * rowStride).assumingMemoryBound(to: UInt8.self)
  }

  /// Takes the rows that were written since; those beyond the picture's height are left out.
  package func take(_ count: Int) {
    received = min(received + count, height)
    while made < vertical.starts.count {
      let start = Int(vertical.starts[made])
      guard start + vertical.taps <= received else { break }
      for tap in 0..<vertical.taps { rows[tap] = UnsafePointer(row((start + tap) % capacity)) }
      let stride = AlignedBuffer.aligned(width)
      let into = (strip.base + stripRows * stride).assumingMemoryBound(to: UInt8.self)
      vertical.weights.withUnsafeBufferPointer { weights in
        ckernels_weigh_rows(
          rows, weights.baseAddress! + made * vertical.taps, vertical.taps, into, width, portable ? 1 : 0)
      }
      made += 1
      stripRows += 1
      if stripRows == Self.stripHeight || made == vertical.starts.count { layStrip() }
    }
  }

  private func layStrip() {
    let side = Self.stripHeight
    let turnedRows = turned.base.assumingMemoryBound(to: UInt8.self)
    let reducedRows = reduced.base.assumingMemoryBound(to: UInt8.self)
    ckernels_transpose(
      strip.base.assumingMemoryBound(to: UInt8.self), AlignedBuffer.aligned(width), turnedRows, side, width, stripRows)
    horizontal.resample(
      turnedRows, stride: side, into: reducedRows, targetStride: side, width: side, portable: portable)
    lay(reducedRows, columns: horizontal.starts.count)
    laid += stripRows
    stripRows = 0
  }

  /// Lays a strip, whose rows are columns of the source, into the target.
  private func lay(_ source: UnsafeMutablePointer<UInt8>, columns: Int) {
    let side = Self.stripHeight
    let base = target.base.assumingMemoryBound(to: UInt8.self)
    let height = vertical.starts.count
    // The place of a sample of the source, and the way from there to its right and lower neighbours.
    func address(_ x: Int, _ y: Int) -> Int {
      let x = orientation.isMirrored ? columns - 1 - x : x
      return switch orientation.quarterTurns {
      case 0: y * target.stride + x
      case 1: x * target.stride + height - 1 - y
      case 2: (height - 1 - y) * target.stride + columns - 1 - x
      default: (columns - 1 - x) * target.stride + y
      }
    }
    let origin = address(0, laid)
    let right = address(1, laid) - origin
    let down = address(0, laid + 1) - origin
    switch (right, down) {
    case (_, 1):
      ckernels_copy(source, side, base + origin, right, stripRows, columns)
    case (_, -1):
      ckernels_copy_mirrored(source, side, base + origin - (stripRows - 1), right, stripRows, columns)
    case (1, _):
      ckernels_transpose(source, side, base + origin, down, stripRows, columns)
    default:
      // From right to left: the strip is read from its last row on.
      ckernels_transpose(
        source + (columns - 1) * side, -side, base + origin - (columns - 1), down, stripRows, columns)
    }
  }
}
