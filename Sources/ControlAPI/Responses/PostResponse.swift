import FoundationEssentials
internal import Model

/// The JSON of a post. Every key is present; unknown values are null.
struct PostResponse: Encodable {
  private let post: Post
  private let urls: MediaURLs
  private let viewer: Viewer

  /// - Parameter viewer: who reads it; the path of the job is for the author, and for a client that acts as no user.
  init(_ post: Post, _ urls: MediaURLs, for viewer: Viewer = .unrestricted) {
    self.post = post
    self.urls = urls
    self.viewer = viewer
  }

  /// The path of a post.
  static func path(_ id: PublicID) -> String { "/v1/posts/\(id)" }

  private enum CodingKeys: String, CodingKey {
    case id, status, createdAt, updatedAt, job, counts, window, offsetSeconds, reasons, assets, photos
  }

  func encode(to encoder: any Encoder) throws {
    try PostDraftResponse(draft: post.draft).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(post.id, forKey: .id)
    try container.encode(post.status, forKey: .status)
    try container.encode(post.createdAt, forKey: .createdAt)
    try container.encode(post.updatedAt, forKey: .updatedAt)
    try container.encode(
      post.job.map { JobSummaryResponse($0, isReadable: viewer.owns(post.draft.author)) }, forKey: .job)
    try container.encode(post.counts, forKey: .counts)
    try container.encode(post.punctuality.map(PunctualityResponse.init), forKey: .window)
    try container.encode(post.offsetSeconds, forKey: .offsetSeconds)
    try container.encode(post.reasons, forKey: .reasons)
    let isPublic = post.isPublic
    let assets = post.assets.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: isPublic) }
    try container.encode(assets, forKey: .assets)
    try container.encode(
      post.photos.map { $0.mapValues { AssetResponse($0, urls, isPublic: isPublic) } }, forKey: .photos)
  }
}

/// Whether a post was on time, in the JSON of the post; `late_seconds` is null unless it is late.
struct PunctualityResponse: Encodable {
  let punctuality: Punctuality

  private enum CodingKeys: String, CodingKey { case state, lateSeconds }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(punctuality.state, forKey: .state)
    try container.encode(punctuality.lateSeconds, forKey: .lateSeconds)
  }
}

/// The JSON of a place; unknown values are null.
struct PlaceResponse: Encodable {
  let place: Place

  private enum CodingKeys: String, CodingKey { case id, name, coordinate }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(place.id, forKey: .id)
    try container.encode(place.name, forKey: .name)
    try container.encode(place.coordinate, forKey: .coordinate)
  }
}
