internal import CImages
package import Kernels

/// A decoder of JPEG images that works in bands of rows. Damage that libjpeg only warns about is an error.
package struct JPEGDecoder: ~Copyable {
  package let header: JPEGHeader
  /// The number of rows not yet decoded.
  package private(set) var remainingRows: Int
  private let decoder: OpaquePointer

  /// Reads and checks the header of a file. The rest is read in pieces from the descriptor, which must stay open.
  package init(reading descriptor: Int32, limits: JPEGLimits) throws(JPEGError) {
    var accepted = cjpeg_limits(
      pixels: UInt64(limits.pixels), buffered_pixels: UInt64(limits.bufferedPixels),
      header_pixels: UInt64(limits.headerPixels), scans: Int32(clamping: limits.scans))
    var failure = cjpeg_failure()
    var found = cjpeg_header()
    var opened: OpaquePointer?
    guard cjpeg_open(descriptor, &accepted, &opened, &found, &failure) == cjpeg_ok, let opened else {
      throw JPEGError(failure)
    }
    decoder = opened
    header = JPEGHeader(
      width: Int(found.width), height: Int(found.height), decodedWidth: Int(found.decoded_width),
      decodedHeight: Int(found.decoded_height), components: Int(found.components), color: JPEGColor(found))
    remainingRows = header.decodedHeight
  }

  deinit { cjpeg_close(decoder) }

  /// The number of bytes per pixel that `read` returns: 4 for CMYK, 3 (RGB) for all other images.
  package var bytesPerPixel: Int { header.components == 4 ? 4 : 3 }

  /// Decodes the next `rowCount` rows as 24-bit RGB, or as 32-bit CMYK for a CMYK image.
  ///
  /// The last row also checks the rest of the file: do not trust any row before all of them are read.
  ///
  /// - Parameters:
  ///   - buffer: the memory for all these rows.
  ///   - stride: the distance in bytes between rows.
  package mutating func read(
    into buffer: UnsafeMutableBufferPointer<UInt8>, stride: Int, rowCount: Int
  ) throws(JPEGError) {
    precondition(0...remainingRows ~= rowCount, "the rows are out of range")
    guard rowCount > 0 else { return }
    let rowBytes = bytesPerPixel * header.decodedWidth
    precondition(stride >= rowBytes && buffer.count >= (rowCount - 1) * stride + rowBytes, "the rows do not fit")
    // libjpeg must not be called again after an error.
    let rest = remainingRows - rowCount
    remainingRows = 0
    var failure = cjpeg_failure()
    guard cjpeg_read(decoder, buffer.baseAddress, stride, UInt32(rowCount), &failure) == cjpeg_ok else {
      throw JPEGError(failure)
    }
    remainingRows = rest
  }

  /// Decodes the planes of a grey or YCbCr image, band by band: as they are coded, or as much smaller as the image is decoded. Use this instead of `read`.
  ///
  /// - Parameter scalers: is called once and returns a scaler for each component.
  package mutating func readPlanes(
    into scalers: ([JPEGComponent]) -> [PlaneScaler]
  ) throws(JPEGError) {
    precondition(
      remainingRows == header.decodedHeight && header.components <= 3, "rows are already read, or the image is CMYK")
    remainingRows = 0
    var failure = cjpeg_failure()
    var found = [cjpeg_component](repeating: cjpeg_component(), count: 3)
    guard cjpeg_start_planes(decoder, &found, &failure) == cjpeg_ok else { throw JPEGError(failure) }
    let components = found.prefix(header.components).map(JPEGComponent.init)
    let targets = scalers(components)
    precondition(targets.count == components.count, "a component has no scaler")
    // The pointers to the rows of each component, in one array.
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
}

/// The reason why a JPEG image cannot be read or written, with the message of libjpeg.
package enum JPEGError: Error, Hashable, CustomStringConvertible {
  /// The data are not a JPEG image, or are inconsistent.
  case malformed(String)
  /// The data end too early.
  case truncated(String)
  /// The image uses an unsupported feature, such as 12-bit samples or lossless coding.
  case unsupported(String)
  /// The header states more pixels than the limit; nothing was decoded.
  case tooManyPixels(width: Int, height: Int)
  /// It states more pixels than the limit of an image in several scans.
  case tooManyBufferedPixels(width: Int, height: Int)
  /// It states an edge longer than the limit, in pixels.
  case tooLongEdge(width: Int, height: Int, limit: Int)
  /// A progressive image has more scans than the limit.
  case tooManyScans(String)
  /// An edge of an image to encode is longer than 65500 pixels.
  case tooLarge(String)
  /// An allocation of libjpeg or its wrapper failed.
  case outOfMemory
  /// The file cannot be read.
  case unreadable(String)

  init(_ failure: cjpeg_failure) {
    let message = withUnsafeBytes(of: failure.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let (width, height) = (Int(failure.width), Int(failure.height))
    self =
      switch failure.status {
      case cjpeg_truncated: .truncated(message)
      case cjpeg_unsupported: .unsupported(message)
      case cjpeg_too_many_pixels: .tooManyPixels(width: width, height: height)
      case cjpeg_too_many_buffered_pixels: .tooManyBufferedPixels(width: width, height: height)
      case cjpeg_too_many_scans: .tooManyScans(message)
      case cjpeg_too_large: .tooLongEdge(width: width, height: height, limit: Int(failure.max_edge))
      case cjpeg_out_of_memory: .outOfMemory
      case cjpeg_unreadable: .unreadable(message)
      default: .malformed(message)
      }
  }

  package var description: String {
    switch self {
    case .malformed(let message): "malformed JPEG: \(message)"
    case .truncated(let message): "truncated JPEG: \(message)"
    case .unsupported(let message): "unsupported JPEG: \(message)"
    case .tooManyScans(let message), .tooLarge(let message): "JPEG refused: \(message)"
    case .tooManyPixels(let width, let height), .tooManyBufferedPixels(let width, let height),
      .tooLongEdge(let width, let height, _):
      "JPEG refused: \(width) x \(height) pixels"
    case .outOfMemory: "out of memory for a JPEG"
    case .unreadable(let message): message
    }
  }
}
