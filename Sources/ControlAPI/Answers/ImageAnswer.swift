import FoundationEssentials
internal import Model

/// An image that was submitted by itself, as clients read it; what is not known is null.
struct ImageAnswer: Encodable {
  private let image: StoredImage
  private let urls: MediaURLs

  init(_ image: StoredImage, _ urls: MediaURLs) {
    self.image = image
    self.urls = urls
  }

  /// Where an image is read.
  static func path(_ id: PublicID) -> String { "/v1/images/\(id)" }

  private enum CodingKeys: String, CodingKey {
    case id, kind, owner, author, status, createdAt, job, reasons, assets, url
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(image.id, forKey: .id)
    try container.encode(image.draft.kind, forKey: .kind)
    try container.encode(image.draft.owner, forKey: .owner)
    try container.encode(image.draft.author, forKey: .author)
    try container.encode(image.status, forKey: .status)
    try container.encode(image.createdAt, forKey: .createdAt)
    try container.encode(image.job.map(JobSummaryAnswer.init), forKey: .job)
    try container.encode(image.reasons, forKey: .reasons)
    try container.encode(
      image.assets.filter { !$0.key.isSource }.mapValues { AssetAnswer($0, urls) }, forKey: .assets)
    try container.encode(Self.path(image.id), forKey: .url)
  }
}
