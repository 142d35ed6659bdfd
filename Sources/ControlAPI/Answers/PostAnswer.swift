import FoundationEssentials
internal import Model

/// A post as clients read it; what is not known is null, so that every key is always there.
struct PostAnswer: Encodable {
  private let post: Post
  private let urls: MediaURLs

  init(_ post: Post, _ urls: MediaURLs) {
    self.post = post
    self.urls = urls
  }

  /// Where a post is read.
  static func path(_ id: PublicID) -> String { "/v1/posts/\(id)" }

  private enum CodingKeys: String, CodingKey {
    case id, kind, status, author, title, caption, visibility, place, location, capturedAt, createdAt, foreground, job
    case counts, reasons, assets, photos
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(post.id, forKey: .id)
    try container.encode(post.draft.kind, forKey: .kind)
    try container.encode(post.status, forKey: .status)
    try container.encode(post.draft.author, forKey: .author)
    try container.encode(post.draft.title, forKey: .title)
    try container.encode(post.draft.caption, forKey: .caption)
    try container.encode(post.draft.visibility, forKey: .visibility)
    try container.encode(post.draft.place.map(PlaceAnswer.init), forKey: .place)
    try container.encode(post.draft.location, forKey: .location)
    try container.encode(post.draft.capturedAt, forKey: .capturedAt)
    try container.encode(post.createdAt, forKey: .createdAt)
    try container.encode(post.draft.foreground, forKey: .foreground)
    try container.encode(post.job.map(JobSummaryAnswer.init), forKey: .job)
    try container.encode(post.counts, forKey: .counts)
    try container.encode(post.reasons, forKey: .reasons)
    let assets = post.assets.filter { !$0.key.isSource }.mapValues { AssetAnswer($0, urls) }
    try container.encode(assets, forKey: .assets)
    try container.encode(post.photos.map { $0.mapValues { AssetAnswer($0, urls) } }, forKey: .photos)
  }
}

/// A place, its unknown parts null.
private struct PlaceAnswer: Encodable {
  let place: Place

  private enum CodingKeys: String, CodingKey { case id, name, coordinate }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(place.id, forKey: .id)
    try container.encode(place.name, forKey: .name)
    try container.encode(place.coordinate, forKey: .coordinate)
  }
}
