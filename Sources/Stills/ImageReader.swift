internal import CImages

/// A PNG, WebP, HEIF or AVIF being decoded.
package struct ImageReader: ~Copyable {
  /// Whose library reads it.
  package enum Format: Sendable {
    case png, webp
    /// HEIF and AVIF.
    case heif
  }

  package let header: ImageHeader
  /// Rows not yet decoded.
  package private(set) var remainingRows: Int
  private let reader: OpaquePointer
  private let source: UnsafeMutableBufferPointer<UInt8>

  /// Reads and checks the header; the bytes are copied.
  package init(_ bytes: [UInt8], format: Format, pixels: Int) throws(ImageError) {
    let source = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = source.initialize(from: bytes)
    var failure = cimages_failure()
    var found = cimages_header()
    var opened: OpaquePointer?
    let open =
      switch format {
      case .png: cimages_open_png
      case .webp: cimages_open_webp
      case .heif: cimages_open_heif
      }
    guard open(source.baseAddress, source.count, UInt64(pixels), &opened, &found, &failure) == cimages_ok, let opened
    else {
      source.deallocate()
      throw ImageError(failure)
    }
    self.source = source
    reader = opened
    header = ImageHeader(found)
    remainingRows = header.height
  }

  deinit {
    cimages_close(reader)
    source.deallocate()
  }

  /// Decodes the next `rowCount` rows as 32-bit RGBA, not multiplied.
  package mutating func read(into rows: UnsafeMutablePointer<UInt8>, stride: Int, rowCount: Int) throws(ImageError) {
    precondition(1...remainingRows ~= rowCount && stride >= 4 * header.width, "the picture has no such rows")
    let rest = remainingRows - rowCount
    remainingRows = 0
    var failure = cimages_failure()
    guard cimages_read(reader, rows, stride, UInt32(rowCount), &failure) == cimages_ok else {
      throw ImageError(failure)
    }
    remainingRows = rest
  }

  /// Decodes a HEIF or AVIF of more than 8 bits whole: 4:2:0, 16-bit words, strides in bytes.
  package mutating func readPlanes<Result>(
    _ use: (_ planes: [(base: UnsafeRawPointer, stride: Int)], _ bits: Int) -> Result
  ) throws(ImageError) -> Result {
    remainingRows = 0
    var failure = cimages_failure()
    var planes = cimages_planes()
    guard cimages_read_planes(reader, &planes, &failure) == cimages_ok else { throw ImageError(failure) }
    let (bases, strides) = (planes.planes, planes.strides)
    return use(
      [
        (UnsafeRawPointer(bases.0!), strides.0), (UnsafeRawPointer(bases.1!), strides.1),
        (UnsafeRawPointer(bases.2!), strides.2),
      ], Int(planes.bits))
  }

  /// Its ICC profile; empty where there is none.
  package var profile: [UInt8] { bytes(cimages_profile) }

  /// Its Exif data from the byte order mark on; empty where there are none.
  package var exif: [UInt8] { bytes(cimages_exif) }

  private func bytes(
    _ get: (OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<Int>?) -> Void
  ) -> [UInt8] {
    var start: UnsafePointer<UInt8>?
    var count = 0
    get(reader, &start, &count)
    return [UInt8](UnsafeBufferPointer(start: start, count: count))
  }
}
