import FoundationEssentials
internal import Model

/// The JSON of an image that is not part of a post; unknown values are null.
struct ImageResponse: Encodable {
  private let image: StoredImage
  private let urls: MediaURLs
  private let viewer: Viewer

  /// - Parameter viewer: who reads it, as in the response of a post.
  init(_ image: StoredImage, _ urls: MediaURLs, for viewer: Viewer = .unrestricted) {
    self.image = image
    self.urls = urls
    self.viewer = viewer
  }

  /// The path of an image.
  static func path(_ id: PublicID) -> String { "/v1/images/\(id)" }

  private enum CodingKeys: String, CodingKey {
    case id, kind, owner, author, alternativeText, status, createdAt, job, reasons, assets, url
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(image.id, forKey: .id)
    try container.encode(image.draft.kind, forKey: .kind)
    try container.encode(image.draft.owner, forKey: .owner)
    try container.encode(image.draft.author, forKey: .author)
    try container.encode(image.draft.alternativeText, forKey: .alternativeText)
    try container.encode(image.status, forKey: .status)
    try container.encode(image.createdAt, forKey: .createdAt)
    try container.encode(
      image.job.map { JobSummaryResponse($0, isReadable: viewer.owns(image.draft.author ?? image.draft.owner)) },
      forKey: .job)
    try container.encode(image.reasons, forKey: .reasons)
    try container.encode(
      image.assets.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: image.isPublic) },
      forKey: .assets)
    try container.encode(Self.path(image.id), forKey: .url)
  }
}

/// The JSON of an asset; values that do not apply are null.
struct AssetResponse: Encodable {
  private let asset: Asset
  private let url: String

  /// - Parameter isPublic: whether everybody may see what the asset belongs to.
  init(_ asset: Asset, _ urls: MediaURLs, isPublic: Bool) {
    self.asset = asset
    url = isPublic ? MediaURLs.path(of: asset) : urls.url(of: asset)
  }

  private enum CodingKeys: String, CodingKey { case url, type, bytes, width, height, duration, thumbhash, color }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(url, forKey: .url)
    try container.encode(asset.type, forKey: .type)
    try container.encode(asset.bytes, forKey: .bytes)
    try container.encode(asset.width, forKey: .width)
    try container.encode(asset.height, forKey: .height)
    try container.encode(asset.duration, forKey: .duration)
    try container.encode(asset.thumbhash, forKey: .thumbhash)
    try container.encode(asset.color, forKey: .color)
  }
}
