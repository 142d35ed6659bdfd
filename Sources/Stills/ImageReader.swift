internal import CImages
import Platform

/// A decoder of PNG, WebP, HEIF and AVIF images.
package struct ImageReader: ~Copyable {
  /// The format, which selects the library.
  package enum Format: Sendable {
    case png, webp
    /// HEIF or AVIF.
    case heif
  }

  package let header: ImageHeader
  /// The number of rows not yet decoded.
  package private(set) var remainingRows: Int
  private let reader: OpaquePointer
  private let source: UnsafeMutableBufferPointer<UInt8>

  /// Reads the header and checks it against the limit on pixels. Copies the bytes.
  package init(_ bytes: [UInt8], format: Format, pixels: Int) throws(ImageError) {
    let source = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = source.initialize(from: bytes)
    var failure = cimages_failure()
    var found = cimages_header()
    var opened: OpaquePointer?
    if format == .heif { HEIFLibrary.load() }
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

  /// Decodes the next `rowCount` rows as 32-bit RGBA. Whether colours are multiplied by alpha is as in the file.
  package mutating func read(into rows: UnsafeMutablePointer<UInt8>, stride: Int, rowCount: Int) throws(ImageError) {
    precondition(stride >= 4 * header.width, "the rows are out of range")
    guard rowCount > 0, rowCount <= remainingRows else { throw .malformed("the image has no more rows") }
    let rest = remainingRows - rowCount
    remainingRows = 0
    var failure = cimages_failure()
    guard cimages_read(reader, rows, stride, UInt32(rowCount), &failure) == cimages_ok else {
      throw ImageError(failure)
    }
    remainingRows = rest
  }

  /// Decodes the next row as RGBA of 16 bits for each sample; samples of fewer bits are widened. All rows are decoded so, or none.
  package mutating func readRow16(into row: UnsafeMutablePointer<UInt16>) throws(ImageError) {
    guard remainingRows > 0 else { throw .malformed("the image has no more rows") }
    let rest = remainingRows - 1
    remainingRows = 0
    var failure = cimages_failure()
    guard cimages_read_row16(reader, row, UInt32(header.width), &failure) == cimages_ok else {
      throw ImageError(failure)
    }
    remainingRows = rest
  }

  /// A plane of samples, with its stride in bytes.
  package typealias Samples = (base: UnsafeRawPointer, stride: Int)

  /// Decodes a HEIF or AVIF image of more than 8 bits into 4:2:0 planes of 16-bit words. After `unsupported`, its rows can
  /// be decoded instead.
  ///
  /// - Parameter use: gets the planes with their bits, and the alpha channel, whose samples are bytes up to 8 bits.
  package mutating func readPlanes<Result>(
    _ use: (_ planes: [Samples], _ bits: Int, _ alpha: (plane: Samples, bits: Int)?) -> Result
  ) throws(ImageError) -> Result {
    var failure = cimages_failure()
    var planes = cimages_planes()
    let rows = remainingRows
    remainingRows = 0
    guard cimages_read_planes(reader, &planes, &failure) == cimages_ok else {
      let error = ImageError(failure)
      if case .unsupported = error { remainingRows = rows }
      throw error
    }
    let (bases, strides) = (planes.planes, planes.strides)
    return use(
      [
        (UnsafeRawPointer(bases.0!), strides.0), (UnsafeRawPointer(bases.1!), strides.1),
        (UnsafeRawPointer(bases.2!), strides.2),
      ], Int(planes.bits),
      planes.alpha.map { (plane: (base: $0, stride: planes.alpha_stride), bits: Int(planes.alpha_bits)) })
  }

  /// The ICC profile; empty if there is none.
  package var profile: [UInt8] { bytes(cimages_profile) }

  /// The Exif data from the byte order mark on; empty if there are none.
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

/// The header of a PNG, WebP, HEIF or AVIF image.
package struct ImageHeader: Hashable, Sendable {
  /// The width in pixels. For HEIF and AVIF, width and height are upright: the decoder applies the rotation.
  package let width: Int
  package let height: Int
  /// The number of bits per coded sample.
  package let bits: Int
  package let hasAlpha: Bool
  /// Whether the image is animated. Only the first frame is read.
  package let isAnimated: Bool
  /// The code points of ITU-T H.273; 2, "unspecified", if the header has none.
  package let primaries: Int
  package let transfer: Int
  package let matrix: Int
  package let isFullRange: Bool

  init(_ header: cimages_header) {
    width = Int(header.width)
    height = Int(header.height)
    bits = Int(header.bits)
    hasAlpha = header.has_alpha != 0
    isAnimated = header.is_animated != 0
    primaries = Int(header.primaries)
    transfer = Int(header.transfer)
    matrix = Int(header.matrix)
    isFullRange = header.is_full_range != 0
  }
}

/// The reason why a PNG, WebP, HEIF or AVIF image cannot be read or written, with the message of the library.
package enum ImageError: Error, Hashable, Sendable {
  /// The data are not of the format, or are inconsistent.
  case malformed(String)
  /// The data end too early.
  case truncated(String)
  /// The data use a feature of the format that is not supported.
  case unsupported(String)
  /// The header states more pixels than the limit; nothing was decoded.
  case tooManyPixels(width: Int, height: Int)
  /// The header states an edge longer than the limit, in pixels.
  case tooLongEdge(width: Int, height: Int, limit: Int)
  case outOfMemory

  init(_ failure: cimages_failure) {
    let message = withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let (width, height) = (Int(failure.width), Int(failure.height))
    self =
      switch failure.status {
      case cimages_truncated: .truncated(message)
      case cimages_unsupported: .unsupported(message)
      case cimages_too_many_pixels: .tooManyPixels(width: width, height: height)
      case cimages_too_long_edge: .tooLongEdge(width: width, height: height, limit: Int(failure.max_edge))
      case cimages_out_of_memory: .outOfMemory
      default: .malformed(message)
      }
  }
}

/// libheif, with its decoders and encoders.
package enum HEIFLibrary {
  private static let isLoaded: Void = {
    SharedLibraries.open("libheif.so.1")
    // It reads the folder of its plugins now instead of with the first image.
    cimages_start_heif()
  }()

  /// Loads the library, the first time that it is called.
  package static func load() { isLoaded }

  /// The decoders and the encoder that the library lacks.
  package static var missingCodecs: [String] {
    load()
    let codecs = [
      ("libheif's decoder of HEVC", cimages_decodes_heif(0)), ("libheif's decoder of AV1", cimages_decodes_heif(1)),
      ("libheif's encoder of AV1", cimages_encodes_avif()),
    ]
    return codecs.filter { $0.1 == 0 }.map(\.0)
  }
}
