import FoundationEssentials
internal import Model

/// The JSON of an image that is not part of a post; unknown values are null.
struct ImageResponse: NilEncodable {
  let id: PublicID
  let kind: ImageKind
  let owner: String
  let author: String?
  let alternativeText: String?
  let status: ImageStatus
  let createdAt: Date
  let job: JobSummaryResponse?
  let reasons: [Reason]
  let assets: [Role: AssetResponse]
  let url: String

  /// - Parameter viewer: who reads it, as in the response of a post.
  init(_ image: StoredImage, _ urls: MediaURLs, for viewer: Viewer = .unrestricted) {
    id = image.id
    kind = image.draft.kind
    owner = image.draft.owner
    author = image.draft.author
    alternativeText = image.draft.alternativeText
    status = image.status
    createdAt = image.createdAt
    job = image.job.map { JobSummaryResponse($0, isReadable: viewer.owns(image.draft.author ?? image.draft.owner)) }
    reasons = image.reasons
    assets = image.assets.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: image.isPublic) }
    url = Self.path(image.id)
  }

  /// The path of an image.
  static func path(_ id: PublicID) -> String { "/v1/images/\(id)" }
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
