import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
import Store

/// The JSON of a post. Every key but `distance` is present; unknown values are null.
struct PostResponse: NilEncodable {
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
    case id, status, createdAt, updatedAt, job, counts, window, offsetSeconds, reasons, assets, photos, distance
  }

  func encode(to encoder: any Encoder) throws {
    try PostDraftResponse(draft: post.draft).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(post.id, forKey: .id)
    try container.encode(post.status, forKey: .status)
    try container.encode(post.createdAt, forKey: .createdAt)
    try container.encode(post.updatedAt, forKey: .updatedAt)
    try container.encode(
      post.job.map { JobSummaryResponse($0, isReadable: viewer.owns(post.draft.author), urls) }, forKey: .job)
    try container.encode(post.counts, forKey: .counts)
    try container.encode(post.punctuality, forKey: .window)
    try container.encode(post.offsetSeconds, forKey: .offsetSeconds)
    try container.encode(post.reasons, forKey: .reasons)
    let isPublic = post.isPublic
    let assets = post.assets.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: isPublic) }
    try container.encode(assets, forKey: .assets)
    try container.encode(
      post.photos.map { $0.mapValues { AssetResponse($0, urls, isPublic: isPublic) } }, forKey: .photos)
    if let distance = post.distance { try container.encode(distance, forKey: .distance) }
  }
}

/// The JSON of a place; unknown values are null.
struct PlaceResponse: NilEncodable {
  let place: Place

  func encode(to encoder: any Encoder) throws { try place.encode(to: encoder) }
}

extension Post: Versioned {
  var version: some Encodable {
    Content(
      id: id, draft: draft, status: status, reasons: reasons, assets: Content.names(of: assets),
      photos: photos.map(Content.names))
  }

  private struct Content: Encodable {
    let id: PublicID
    let draft: PostDraft
    let status: PostStatus
    let reasons: [Reason]
    let assets: [String]
    let photos: [[String]]

    static func names(of assets: [Role: Asset]) -> [String] {
      assets.map { "\($0.key.rawValue) \($0.value.id)" }.sorted()
    }
  }
}

extension Posts: SubjectRoom {
  static func content(
    of id: PublicID, for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> SubjectContent? {
    try find(id, for: viewer, session).map {
      SubjectContent(
        job: $0.job, isOwn: viewer.owns($0.draft.author), isProcessing: $0.status == .processing,
        showsMedia: !($0.assets.isEmpty && $0.photos.isEmpty), body: try JSON.encode(PostResponse($0, urls)),
        tag: try $0.entityTag().description)
    }
  }

  static func draft(of id: PublicID, _ session: Session) throws -> PostDraft? {
    try find(id, for: .unrestricted, session)?.draft
  }
}
