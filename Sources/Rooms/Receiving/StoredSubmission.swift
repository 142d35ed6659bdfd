internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// What a submission has stored, with the response to its request.
struct StoredSubmission: Sendable {
  /// The post or the image; nil for what has no media.
  let subject: Subject?
  /// The job that makes the outputs; nil if there is none, or for a replay, whose subject has it.
  let job: PublicID?
  let status: Status
  /// The header field `Location`.
  let location: String?
  /// JSON.
  let body: [UInt8]
  /// The header field `ETag`: the version in the response, which the next change names.
  let tag: String?
  /// Whether the response is that of an earlier request with the same idempotency key.
  let isReplay: Bool

  /// Reads a post or an image that the caller's transaction has inserted. It is accepted if it is still to be processed,
  /// otherwise created.
  ///
  /// Nil if the viewer does not see it: of a post, another transaction may have committed a block, the end of a friendship or a
  /// decision of a moderator since the post was found.
  init?(_ subject: Subject, _ viewer: Viewer, _ urls: MediaURLs, _ session: Session) throws {
    guard let content = try subject.content(viewer, urls, session) else { return nil }
    self.subject = subject
    job = content.job?.id
    status = content.isProcessing ? .accepted : .created
    location = subject.path
    body = content.body
    tag = content.tag
    isReplay = false
  }

  /// Something without media, such as a comment, which has no job.
  ///
  /// - Parameters:
  ///   - json: its JSON.
  ///   - path: its path.
  init<Created: Versioned>(created: Created, _ json: some Encodable, at path: String) throws {
    subject = nil
    job = nil
    status = .created
    location = path
    body = try JSON.encode(json)
    tag = try created.entityTag().description
    isReplay = false
  }

  /// The response that an earlier request has stored.
  init(replaying stored: IdempotentResponse) {
    subject = stored.location.flatMap { Subject(path: $0) }
    job = nil
    status = [Status.ok, .created, .accepted].first { $0.code == stored.status } ?? .ok
    location = stored.location
    body = stored.body
    tag = stored.tag
    isReplay = true
  }

  /// The response as it is stored for repetitions of the request.
  var idempotentResponse: IdempotentResponse {
    IdempotentResponse(status: status.code, location: location, body: body, tag: tag)
  }

  var response: Response {
    var headers: HeaderFields = ["Content-Type": "application/json", "Cache-Control": "no-store"]
    headers["Location"] = location
    headers["ETag"] = tag
    if isReplay { headers["Idempotency-Replayed"] = "true" }
    return Response(status, headers: headers, body: .bytes(body))
  }
}
