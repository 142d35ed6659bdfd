internal import CJPEG
package import Kernels

/// A JPEG being decoded band by band; damage that libjpeg only warns of is an error.
package struct JPEGDecoder: ~Copyable {
  /// What the JPEG says of itself.
  package let header: JPEGHeader
  /// Rows not yet decoded.
  package private(set) var remainingRows: Int
  private let decoder: OpaquePointer
  /// Nil where a file is read.
  private let bytes: UnsafeMutableBufferPointer<UInt8>?

  /// Reads and checks the header; the bytes are copied.
  package init(_ bytes: [UInt8], limits: JPEGLimits) throws(JPEGError) {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
    _ = copy.initialize(from: bytes)
    try self.init(
      cjpeg_source(bytes: copy.baseAddress, count: bytes.count, descriptor: -1), bytes: copy, limits: limits)
  }

  /// Reads and checks the header of a file; the rest is read piece by piece, from the descriptor, which must stay open.
  package init(reading descriptor: Int32, limits: JPEGLimits) throws(JPEGError) {
    try self.init(cjpeg_source(bytes: nil, count: 0, descriptor: descriptor), bytes: nil, limits: limits)
  }

  private init(
    _ source: cjpeg_source, bytes: UnsafeMutableBufferPointer<UInt8>?, limits: JPEGLimits
  ) throws(JPEGError) {
    var source = source
    var accepted = cjpeg_limits(
      pixels: UInt64(limits.pixels), buffered_pixels: UInt64(limits.bufferedPixels),
      scans: Int32(clamping: limits.scans))
    var failure = cjpeg_failure()
    var found = cjpeg_header()
    var opened: OpaquePointer?
    guard cjpeg_open(&source, &accepted, &opened, &found, &failure) == cjpeg_ok,
      let opened
    else {
      bytes?.deallocate()
      throw JPEGError(failure)
    }
    self.bytes = bytes
    decoder = opened
    header = JPEGHeader(
      width: Int(found.width), height: Int(found.height), components: Int(found.components),
      isProgressive: found.is_progressive != 0, color: JPEGColor(found))
    remainingRows = header.height
  }

  deinit {
    cjpeg_close(decoder)
    bytes?.deallocate()
  }

  /// Bytes of a pixel that `read` gives: RGB, or CMYK of such a JPEG.
  package var bytesPerPixel: Int { header.components == 4 ? 4 : 3 }

  /// Decodes the next `rowCount` rows as 24-bit RGB, or as 32-bit CMYK of such a JPEG; `stride` bytes lie between rows, and the buffer holds them all.
  ///
  /// The rest of the file is checked with the last row, so that all rows must be read before any may be trusted.
  package mutating func read(
    into buffer: UnsafeMutableBufferPointer<UInt8>, stride: Int, rowCount: Int
  ) throws(JPEGError) {
    precondition(0...remainingRows ~= rowCount, "the picture has no such rows")
    guard rowCount > 0 else { return }
    let rowBytes = bytesPerPixel * header.width
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

  /// Decodes the planes of a grey or YCbCr JPEG as they are coded, band by band; instead of `read`.
  ///
  /// - Parameter scalers: asked once for a scaler for each component.
  package mutating func readPlanes(
    into scalers: ([JPEGComponent]) -> [PlaneScaler]
  ) throws(JPEGError) {
    precondition(remainingRows == header.height && header.components <= 3, "there are no planes to read any more")
    remainingRows = 0
    var failure = cjpeg_failure()
    var found = [cjpeg_component](repeating: cjpeg_component(), count: 3)
    guard cjpeg_start_planes(decoder, &found, &failure) == cjpeg_ok else { throw JPEGError(failure) }
    let components = found.prefix(header.components).map(JPEGComponent.init)
    let targets = scalers(components)
    precondition(targets.count == components.count, "a component has no scaler")
    // Each component's pointers to its rows, one array behind the other.
    var rows = [UnsafeMutablePointer<UInt8>?](repeating: nil, count: components.map(\.bandRows).reduce(0, +))
    let bands = components.map { ($0.height + $0.bandRows - 1) / $0.bandRows }.max() ?? 0
    for _ in 0..<bands {
      var next = 0
      for (component, target) in zip(components, targets) {
        for row in 0..<component.bandRows {
          rows[next] = target.nextRow(after: row)
          next += 1
        }
      }
      let status = rows.withUnsafeMutableBufferPointer { rows in
        var offset = 0
        var starts: [UnsafePointer<UnsafeMutablePointer<UInt8>?>?] = components.map { component in
          defer { offset += component.bandRows }
          return UnsafePointer(rows.baseAddress! + offset)
        }
        return cjpeg_read_band(decoder, &starts, &failure)
      }
      guard status == cjpeg_ok else { throw JPEGError(failure) }
      for (component, target) in zip(components, targets) { target.take(component.bandRows) }
    }
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
