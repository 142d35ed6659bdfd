internal import CJPEG

/// A JPEG being decoded band by band; damage that libjpeg only warns of is an error.
package struct JPEGDecoder: ~Copyable {
  /// What the JPEG says of itself.
  package let header: JPEGHeader
  /// Rows not yet decoded.
  package private(set) var remainingRows: Int
  private let decoder: OpaquePointer
  private let source: UnsafeMutableBufferPointer<UInt8>

  /// Reads and checks the header; the bytes are copied.
  package init(_ bytes: [UInt8], limits: JPEGLimits) throws(JPEGError) {
    let source = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = source.initialize(from: bytes)
    var accepted = cjpeg_limits(
      pixels: UInt64(limits.pixels), buffered_pixels: UInt64(limits.bufferedPixels),
      scans: Int32(clamping: limits.scans))
    var failure = cjpeg_failure()
    var found = cjpeg_header()
    var opened: OpaquePointer?
    guard cjpeg_open(source.baseAddress, source.count, &accepted, &opened, &found, &failure) == cjpeg_ok,
      let opened
    else {
      source.deallocate()
      throw JPEGError(failure)
    }
    self.source = source
    decoder = opened
    header = JPEGHeader(
      width: Int(found.width), height: Int(found.height), components: Int(found.components),
      isProgressive: found.is_progressive != 0)
    remainingRows = header.height
  }

  deinit {
    cjpeg_close(decoder)
    source.deallocate()
  }

  /// Decodes the next `rowCount` rows as 24-bit RGB; `stride` bytes lie between rows, and the buffer holds them all.
  ///
  /// The rest of the file is checked with the last row, so that all rows must be read before any may be trusted.
  package mutating func read(
    into buffer: UnsafeMutableBufferPointer<UInt8>, stride: Int, rowCount: Int
  ) throws(JPEGError) {
    precondition(0...remainingRows ~= rowCount, "the picture has no such rows")
    guard rowCount > 0 else { return }
    let rowBytes = 3 * header.width
    precondition(stride >= rowBytes && buffer.count >= (rowCount - 1) * stride + rowBytes, "the rows do not fit")
    // After an error libjpeg may not be asked again.
    let rest = remainingRows - rowCount
    remainingRows = 0
    var failure = cjpeg_failure()
    guard cjpeg_read(decoder, buffer.baseAddress, stride, UInt32(rowCount), &failure) == cjpeg_ok else {
      throw JPEGError(failure)
    }
    remainingRows = rest
  }

  /// Decodes a whole JPEG.
  package static func decode(_ bytes: [UInt8], limits: JPEGLimits) throws(JPEGError) -> RGBImage {
    var decoder = try JPEGDecoder(bytes, limits: limits)
    let header = decoder.header
    var pixels = [UInt8](repeating: 0, count: 3 * header.width * header.height)
    try pixels.withUnsafeMutableBufferPointer { (buffer) throws(JPEGError) in
      try decoder.read(into: buffer, stride: 3 * header.width, rowCount: header.height)
    }
    return RGBImage(width: header.width, height: header.height, bytes: pixels)
  }
}
