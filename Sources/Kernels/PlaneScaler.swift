internal import CKernels

/// Scales a plane while its rows arrive from top to bottom, and writes it upright. It buffers only a few rows.
///
/// The vertical filter runs first. Strips of its result are transposed, so that the horizontal filter combines rows
/// too. Writing a strip to the target in any orientation costs no more than transposing it back.
package final class PlaneScaler {
  /// The input rows that the vertical filter still needs, as a ring buffer.
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

  /// The strip that is being filled, the strip transposed, the transposed strip scaled, and the rows in the strip.
  private let strip: AlignedBuffer
  private let transposed: AlignedBuffer
  private let scaled: AlignedBuffer
  private var stripRows = 0

  /// The numbers of rows received, written to the target, and produced by the vertical filter.
  private var received = 0
  private var written = 0
  private var produced = 0
  private var rows: [UnsafePointer<UInt8>?]

  private static let stripHeight = 64

  /// - Parameters:
  ///   - width: the number of samples in an input row.
  ///   - height: the number of input rows.
  ///   - rowBytes: the number of bytes that the caller writes for a row, including padding.
  ///   - band: the maximum number of rows that the caller adds at once.
  ///   - target: the upright result; its memory must outlive the scaler.
  ///   - orientation: the transform that makes the input upright.
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
    transposed = AlignedBuffer(count: Self.stripHeight * width)
    scaled = AlignedBuffer(count: Self.stripHeight * size.width)
    rows = Array(repeating: nil, count: vertical.taps)
  }

  /// Returns the memory for an input row: the next one, or one that `count` others precede.
  package func nextRow(after count: Int = 0) -> UnsafeMutablePointer<UInt8> {
    row((received + count) % capacity)
  }

  private func row(_ slot: Int) -> UnsafeMutablePointer<UInt8> {
    (ring.base + slot * rowStride).assumingMemoryBound(to: UInt8.self)
  }

  /// Adds the rows that the caller has written. Rows beyond the height of the input are ignored.
  package func take(_ count: Int) {
    received = min(received + count, height)
    while produced < vertical.starts.count {
      let start = Int(vertical.starts[produced])
      guard start + vertical.taps <= received else { break }
      for tap in 0..<vertical.taps { rows[tap] = UnsafePointer(row((start + tap) % capacity)) }
      let stride = AlignedBuffer.aligned(width)
      let into = (strip.base + stripRows * stride).assumingMemoryBound(to: UInt8.self)
      vertical.weights.withUnsafeBufferPointer { weights in
        ckernels_weigh_rows(
          rows, weights.baseAddress! + produced * vertical.taps, vertical.taps, into, width, portable ? 1 : 0)
      }
      produced += 1
      stripRows += 1
      if stripRows == Self.stripHeight || produced == vertical.starts.count { finishStrip() }
    }
  }

  private func finishStrip() {
    let side = Self.stripHeight
    let columns = transposed.base.assumingMemoryBound(to: UInt8.self)
    let scaledColumns = scaled.base.assumingMemoryBound(to: UInt8.self)
    ckernels_transpose(
      strip.base.assumingMemoryBound(to: UInt8.self), AlignedBuffer.aligned(width), columns, side, width, stripRows)
    horizontal.resample(
      columns, stride: side, into: scaledColumns, targetStride: side, width: side, portable: portable)
    write(scaledColumns, columns: horizontal.starts.count)
    written += stripRows
    stripRows = 0
  }

  /// Writes a strip, whose rows are columns of the input, to the target.
  private func write(_ source: UnsafeMutablePointer<UInt8>, columns: Int) {
    let side = Self.stripHeight
    let base = target.base.assumingMemoryBound(to: UInt8.self)
    let height = vertical.starts.count
    // The offset of an input sample in the target, and the steps to its right and lower neighbours.
    func offset(_ x: Int, _ y: Int) -> Int {
      let x = orientation.isMirrored ? columns - 1 - x : x
      return switch orientation.quarterTurns {
      case 0: y * target.stride + x
      case 1: x * target.stride + height - 1 - y
      case 2: (height - 1 - y) * target.stride + columns - 1 - x
      default: (columns - 1 - x) * target.stride + y
      }
    }
    let origin = offset(0, written)
    let right = offset(1, written) - origin
    let down = offset(0, written + 1) - origin
    switch (right, down) {
    case (_, 1):
      ckernels_copy(source, side, base + origin, right, stripRows, columns)
    case (_, -1):
      ckernels_copy_mirrored(source, side, base + origin - (stripRows - 1), right, stripRows, columns)
    case (1, _):
      ckernels_transpose(source, side, base + origin, down, stripRows, columns)
    default:
      // The columns run from right to left: the strip is read from its last row up.
      ckernels_transpose(
        source + (columns - 1) * side, -side, base + origin - (columns - 1), down, stripRows, columns)
    }
  }
}
