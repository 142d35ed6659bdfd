import Model

/// What major brands mean here (ISO/IEC 14496-12, annex E; 3GPP TS 26.244; mp4ra.org).
enum Brand {
  /// Pictures and raw photos in boxes: brand and what it is.
  private static let pictures: [BoxType: String] = [
    "heic": "an HEIC picture", "heix": "an HEIC picture", "heim": "an HEIC picture", "heis": "an HEIC picture",
    "hevc": "an HEIC sequence", "hevx": "an HEIC sequence", "hevm": "an HEIC sequence", "hevs": "an HEIC sequence",
    "mif1": "an HEIF picture", "mif2": "an HEIF picture", "mif3": "an HEIF picture",
    "msf1": "an HEIF sequence", "miaf": "an HEIF picture", "avif": "an AVIF picture", "avis": "an AVIF sequence",
    "crx ": "a raw photo", "jp2 ": "a JPEG 2000 picture", "jpx ": "a JPEG 2000 picture", "jxl ": "a JPEG XL picture",
  ]

  /// What a file of this brand is, if it is no video.
  static func picture(_ brand: BoxType) -> String? { pictures[brand] }

  /// The family that a major brand belongs to.
  static func family(of brand: BoxType) -> ContainerName {
    if brand == "qt  " { return .mov }
    let prefix = brand.bytes.prefix(3)
    return prefix.elementsEqual("3gp".utf8) || prefix.elementsEqual("3g2".utf8) ? .threeGP : .mp4
  }
}
