import Model

/// The header of a box (ISO/IEC 14496-12, 4.2.2). Positions are in bytes from the start of the file.
struct BoxHeader: Hashable {
  let type: BoxType
  /// The start of the box.
  let offset: Int64
  /// The start of its content.
  let content: Int64
  /// The end of the box, which may lie after the end of its parent.
  let end: Int64

  /// Parses a header; a size of 0 extends to `limit`.
  ///
  /// - Parameters:
  ///   - bytes: up to 16 bytes of the file at `offset`.
  ///   - limit: the end of the file or of the parent box.
  init(_ bytes: ArraySlice<UInt8>, at offset: Int64, limit: Int64) throws(HeaderError) {
    guard let short = Self.integer(bytes.prefix(4), count: 4),
      let code = Self.integer(bytes.dropFirst(4).prefix(4), count: 4)
    else { throw .endsInside }
    type = BoxType(code: UInt32(code))
    self.offset = offset
    let headerBytes: Int64 = short == 1 ? 16 : 8
    content = offset + headerBytes
    if short == 0 {
      end = limit
      return
    }
    var size = short
    if short == 1 {
      guard let long = Self.integer(bytes.dropFirst(8).prefix(8), count: 8) else { throw .endsInside }
      size = long
    }
    guard size >= UInt64(headerBytes) else { throw .impossibleSize(size) }
    let (end, overflow) = offset.addingReportingOverflow(Int64(clamping: size))
    self.end = overflow ? .max : end
  }

  /// The rest of a file that no box fills, as a box that fills it.
  ///
  /// - Parameter bytes: those at `offset`.
  init(trailer bytes: ArraySlice<UInt8>, at offset: Int64, limit: Int64) {
    type = BoxType(code: bytes.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    self.offset = offset
    content = offset
    end = limit
  }

  /// An error in a header.
  enum HeaderError: Error, Hashable {
    /// The file ends inside the header.
    case endsInside
    /// The size is smaller than the header.
    case impossibleSize(UInt64)
  }

  private static func integer(_ bytes: ArraySlice<UInt8>, count: Int) -> UInt64? {
    guard bytes.count == count else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A four-character code: the type of a box, a brand or a handler (ISO/IEC 14496-12, 4.2).
package struct BoxType: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  private let code: UInt32

  init(code: UInt32) { self.code = code }

  /// Creates a type from a literal of four ASCII characters.
  package init(stringLiteral text: StaticString) {
    precondition(text.utf8CodeUnitCount == 4, "a box type has four bytes")
    code = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  /// The four characters, with `.` for bytes that are not printable ASCII.
  package var description: String { String(decoding: bytes.map { isPrintable($0) ? $0 : 0x2E }, as: UTF8.self) }

  /// The four bytes as ISO 8859-1, the encoding of types such as `©xyz`.
  package var latin: String { String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) }

  /// Whether the bytes are printable; padding has types of zeros.
  var isName: Bool { bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

  /// The four bytes.
  var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) } }

  private func isPrintable(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }
}

/// Classifies major brands (ISO/IEC 14496-12, annex E; 3GPP TS 26.244; mp4ra.org).
enum Brand {
  /// The brands of images.
  private static let images: [BoxType: String] = [
    "heic": "an HEIC image", "heix": "an HEIC image", "heim": "an HEIC image", "heis": "an HEIC image",
    "hevc": "an HEIC sequence", "hevx": "an HEIC sequence", "hevm": "an HEIC sequence", "hevs": "an HEIC sequence",
    "mif1": "an HEIF image", "mif2": "an HEIF image", "mif3": "an HEIF image",
    "msf1": "an HEIF sequence", "miaf": "an HEIF image", "avif": "an AVIF image", "avis": "an AVIF sequence",
    "crx ": "a raw photo", "jp2 ": "a JPEG 2000 image", "jpx ": "a JPEG 2000 image", "jxl ": "a JPEG XL image",
  ]

  /// The name of the image format with a brand; nil: not an image.
  static func image(_ brand: BoxType) -> String? { images[brand] }

  /// The container family of a major brand.
  static func family(of brand: BoxType) -> ContainerName {
    if brand == "qt  " { return .mov }
    let prefix = brand.bytes.prefix(3)
    return prefix.elementsEqual("3gp".utf8) || prefix.elementsEqual("3g2".utf8) ? .threeGP : .mp4
  }
}
