import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
import Store

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
    job = image.job.map {
      JobSummaryResponse($0, isReadable: viewer.owns(image.draft.author ?? image.draft.owner), urls)
    }
    reasons = image.reasons
    assets = image.assets.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: image.isPublic) }
    url = urls.prefix + Self.path(image.id)
  }

  /// The path of an image.
  static func path(_ id: PublicID) -> String { "/v1/images/\(id)" }
}

extension StoredImage: Versioned {
  var version: some Encodable {
    [
      ["\(id)", draft.kind.rawValue, draft.owner, draft.author ?? "", draft.alternativeText ?? "", status.rawValue],
      reasons.map(\.code.rawValue), assets.map { "\($0.key.rawValue) \($0.value.id)" }.sorted(),
    ]
  }
}

extension Images: SubjectRoom {
  static func content(
    of id: PublicID, for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> SubjectContent? {
    try find(id, for: viewer, session).map {
      SubjectContent(
        job: $0.job, isOwn: viewer.owns($0.draft.author ?? $0.draft.owner), isProcessing: $0.status == .processing,
        showsMedia: !$0.assets.isEmpty, body: try JSON.encode(ImageResponse($0, urls)),
        tag: try $0.entityTag().description)
    }
  }
}
