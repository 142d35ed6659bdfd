import ISOBaseMedia

/// The image of a HEIF as the photo run passes it to its decoder.
enum RewrittenHEIF {
  static func bytes(of file: [UInt8]) throws -> [UInt8] { try HEIFImage(file, pixels: 1 << 20).bytes }
}
