internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Model

/// The JSON of a post. Every key is present; unknown values are null.
struct PostResponse: Encodable {
  private let post: Post
  private let urls: MediaURLs

  init(_ post: Post, _ urls: MediaURLs) {
    self.post = post
    self.urls = urls
  }

  /// The path of a post.
  static func path(_ id: PublicID) -> String { "/v1/posts/\(id)" }

  private enum CodingKeys: String, CodingKey {
    case id, status, createdAt, job, counts, reasons, assets, photos
  }

  func encode(to encoder: any Encoder) throws {
    try PostDraftResponse(draft: post.draft).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(post.id, forKey: .id)
    try container.encode(post.status, forKey: .status)
    try container.encode(post.createdAt, forKey: .createdAt)
    try container.encode(post.job.map(JobSummaryResponse.init), forKey: .job)
    try container.encode(post.counts, forKey: .counts)
    try container.encode(post.reasons, forKey: .reasons)
    let isPublic = post.draft.visibility == .public
    let assets = post.assets.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: isPublic) }
    try container.encode(assets, forKey: .assets)
    try container.encode(
      post.photos.map { $0.mapValues { AssetResponse($0, urls, isPublic: isPublic) } }, forKey: .photos)
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

extension Post {
  /// The entity tag of the post, for conditional changes with `If-Match` (RFC 9110, section 13.1.1).
  ///
  /// It does not cover counts, the progress of the job and the signatures of URLs: these change without a request of the
  /// author, and each new comment would make a pending change of the caption fail.
  func version() throws -> EntityTag {
    let assets = assets.map { "\($0.key.rawValue) \($0.value.id)" }.sorted()
    let photos = photos.map { photo in photo.map { "\($0.key.rawValue) \($0.value.id)" }.sorted() }
    let content = Content(id: id, draft: draft, status: status, reasons: reasons, assets: assets, photos: photos)
    return EntityTag(strong: SHA256.digest(of: try JSON.canonical(JSON.encode(content))).hex)
  }

  private struct Content: Encodable {
    let id: PublicID
    let draft: PostDraft
    let status: PostStatus
    let reasons: [Reason]
    let assets: [String]
    let photos: [[String]]
  }
}

extension Request {
  /// Throws a problem with status 412 if the header field `If-Match` does not name the current version of a post.
  func checkVersion(of post: Post) throws {
    // Computing the version is not free, and most requests have no condition.
    guard headers["If-Match"] != nil else { return }
    let version = try post.version()
    guard version.failsIfMatch(in: headers) else { return }
    throw version.preconditionFailed(remedy: "Read the post again and repeat the change with its new ETag.")
  }
}
