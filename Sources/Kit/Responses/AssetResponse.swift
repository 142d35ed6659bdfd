package import Model

/// The JSON of an asset; values that do not apply are null.
package struct AssetResponse: Encodable {
  private let asset: Asset
  private let url: String

  /// - Parameter isPublic: whether everybody may see what the asset belongs to.
  package init(_ asset: Asset, _ urls: MediaURLs, isPublic: Bool) {
    self.asset = asset
    url = isPublic ? urls.publicURL(of: asset) : urls.url(of: asset)
  }

  private enum CodingKeys: String, CodingKey {
    case url, type, bytes, width, height, duration, thumbhash, color, loudnessLufs
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(url, forKey: .url)
    try container.encode(asset.type, forKey: .type)
    try container.encode(asset.bytes, forKey: .bytes)
    try container.encode(asset.width, forKey: .width)
    try container.encode(asset.height, forKey: .height)
    try container.encode(asset.duration, forKey: .duration)
    try container.encode(asset.thumbhash, forKey: .thumbhash)
    try container.encode(asset.color, forKey: .color)
    try container.encode(asset.loudness, forKey: .loudnessLufs)
  }
}
