internal import Crypto
internal import HTTPServer
internal import Model

extension Post {
  /// Names what the post is by now, so that a change can be meant for this and nothing else (RFC 9110, section 13.1.1).
  ///
  /// Counts, the progress of the job and the signatures of URLs are left out: they change by themselves, and a caption
  /// could not be corrected under a post that is talked about.
  func version() throws -> EntityTag {
    let shown = assets.map { "\($0.key.rawValue) \($0.value.id)" }.sorted()
    let photos = photos.map { photo in photo.map { "\($0.key.rawValue) \($0.value.id)" }.sorted() }
    let content = Content(id: id, draft: draft, status: status, reasons: reasons, assets: shown, photos: photos)
    return EntityTag(strong: SHA256.digest(of: try JSON.encode(content)).hex)
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
  /// Throws a problem where the request is meant for another version of a post than the one that there is.
  func checkVersion(of post: Post) throws {
    // What the version is takes work, and most requests ask for none.
    guard headers["If-Match"] != nil else { return }
    let version = try post.version()
    guard version.isExcluded(by: headers) else { return }
    throw version.preconditionFailed(remedy: "Read the post again, and send the change for what it says now.")
  }
}
