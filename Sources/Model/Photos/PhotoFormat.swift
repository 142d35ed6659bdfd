/// A file format of photos, told by content.
package enum PhotoFormat: String, Codable, Sendable, CaseIterable {
  case jpeg
  /// HEIF with HEVC inside, as iPhones write it.
  case heif
  /// HEIF with AV1 inside.
  case avif
  case png
  case webp

  /// The format that a file's first bytes tell; nil: none of these. Sixteen are enough, more are not looked at.
  package init?(start bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(16))
    func has(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if has("RIFF", at: 0), has("WEBP", at: 8) {
      self = .webp
    } else if has("ftyp", at: 4), ["avif", "avis"].contains(where: { has($0, at: 8) }) {
      self = .avif
    } else if has("ftyp", at: 4), Self.brands.contains(where: { has($0, at: 8) }) {
      self = .heif
    } else {
      return nil
    }
  }

  /// As people write it.
  package var name: String { self == .webp ? "WebP" : rawValue.uppercased() }

  // ISO/IEC 23008-12, annex B, and the structural brands that stand first in some files.
  private static let brands = ["heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs", "mif1", "msf1", "mif2"]
}
