import Model

/// The format of a file by its first bytes, for messages about unsupported files.
package struct FileSignature: Hashable, Sendable {
  /// A type of media.
  package enum Kind: Hashable, Sendable {
    case video, image, other
  }

  /// The name of the format with an article.
  package let name: String
  package let kind: Kind

  /// The number of bytes examined.
  package static let length = 512

  private static let signatures: [(offset: Int, bytes: [UInt8], kind: Kind, name: String)] = [
    (0, [0xFF, 0xD8, 0xFF], .image, "a JPEG image"),
    (0, [0x89, 0x50, 0x4E, 0x47], .image, "a PNG image"),
    (0, Array("GIF8".utf8), .image, "a GIF image"),
    (8, Array("WEBP".utf8), .image, "a WebP image"),
    (0, [0x49, 0x49, 0x2A, 0x00], .image, "a TIFF image or a raw photo"),
    (0, [0x4D, 0x4D, 0x00, 0x2A], .image, "a TIFF image or a raw photo"),
    (0, [0xFF, 0x0A], .image, "a JPEG XL image"),
    (4, Array("JXL ".utf8), .image, "a JPEG XL image"),
    (4, Array("jP  ".utf8), .image, "a JPEG 2000 image"),
    (0, [0xFF, 0x4F, 0xFF, 0x51], .image, "a JPEG 2000 image"),
    (0, Array("8BPS".utf8), .image, "a Photoshop image"),
    (0, [0x00, 0x00, 0x01, 0x00], .image, "an icon"),
    (0, [0x1A, 0x45, 0xDF, 0xA3], .video, "a WebM or Matroska file"),
    (8, Array("AVI ".utf8), .video, "an AVI file"),
    (0, Array("FLV".utf8), .video, "a Flash video"),
    (0, [0x30, 0x26, 0xB2, 0x75], .video, "a Windows Media file"),
    (0, [0x00, 0x00, 0x01, 0xBA], .video, "an MPEG program stream"),
    (0, Array("#EXTM3U".utf8), .other, "an HLS playlist"),
    (0, Array("ffconcat version".utf8), .other, "an ffconcat list"),
    (8, Array("WAVE".utf8), .other, "a WAV file"),
    (0, Array("OggS".utf8), .other, "an Ogg file"),
    (0, Array("fLaC".utf8), .other, "a FLAC file"),
    (0, Array("ID3".utf8), .other, "an MP3 file"),
    (0, Array("%PDF".utf8), .other, "a PDF document"),
    (0, [0x50, 0x4B, 0x03, 0x04], .other, "a ZIP archive"),
  ]

  /// A file of Matroska that is not a WebM.
  static let matroska = FileSignature("a Matroska file", .video)

  /// The types of a container's first box; old QuickTime files have no `ftyp`.
  static let firstBoxes: [BoxType] = [
    "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot", "styp", "sidx", "moof", "uuid",
  ]

  private init(_ name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }

  /// The format of a file with a major brand.
  init(brand: BoxType) {
    if let image = Brand.image(brand) {
      self.init(image, .image)
    } else {
      let name =
        switch Brand.family(of: brand) {
        case .mov: "a MOV video"
        case .mp4: "an MP4 video"
        case .threeGP: "a 3GP video"
        case .webM: "a WebM video"
        }
      self.init(name, .video)
    }
  }

  /// - Parameter start: the first bytes of a file, up to `length`.
  package init(_ start: some Collection<UInt8>) {
    let start = Array(start.prefix(Self.length))[...]
    let type = BigEndian(start).unsigned32(at: 4).map { BoxType(code: $0) }
    if type == "ftyp", let brand = BigEndian(start).unsigned32(at: 8) {
      self.init(brand: BoxType(code: brand))
      return
    }
    // A byte order mark and white space may precede text.
    let unmarked = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start
    let text = unmarked.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    for signature in Self.signatures {
      let candidates = signature.offset == 0 ? [start, text] : [start.dropFirst(signature.offset)]
      if candidates.contains(where: { $0.starts(with: signature.bytes) }) {
        self.init(signature.name, signature.kind)
        return
      }
    }
    if start.first == 0x47, start.count > 188, start[188] == 0x47 {
      self.init("an MPEG transport stream", .video)
    } else if start.starts(with: Array("BM".utf8)), BigEndian(start).unsigned32(at: 6) == 0 {
      // Two letters are not distinctive enough: the reserved fields after the size must be zero.
      self.init("a BMP image", .image)
    } else if Self.isSVG(text) {
      self.init("an SVG drawing", .image)
    } else if let type, Self.firstBoxes.contains(type) {
      self.init("a MOV video", .video)
    } else {
      self.init(Self.isText(unmarked) ? "a text file" : "of an unknown format", .other)
    }
  }

  /// Whether XML has the root element `svg`, which a declaration, comments and a document type may precede.
  private static func isSVG(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.first == 0x3C else { return false }
    let tokens = String(decoding: text, as: UTF8.self).split { $0.isWhitespace || $0 == ">" }
    return tokens.contains { $0 == "<svg" || $0 == "<svg:svg" }
      || zip(tokens, tokens.dropFirst()).contains { $0 == "<!DOCTYPE" && $1 == "svg" }
  }

  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else { return false }
    // The last character may be incomplete.
    return !bytes.isEmpty
      && (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self)?.isEmpty == false }
  }
}
