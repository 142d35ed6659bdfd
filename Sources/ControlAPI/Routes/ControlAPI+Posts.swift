internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// The routes of single posts.
extension ControlAPI {
  var postRoutes: [Route] {
    [
      route("POST", "/v1/posts", needs: [.submit], bodyLimit: formLimits.formBytes, handler: submit),
      route("GET", "/v1/posts/{id}", needs: [.read], handler: readPost),
      route(
        "PATCH", "/v1/posts/{id}", needs: [.change, .read], bodyLimit: Int64(JSONBody.maxBytes), handler: changePost),
      route("DELETE", "/v1/posts/{id}", needs: [.delete], handler: deletePost),
    ]
  }

  private static let photoPost = "photo-post"

  private var formLimits: SubmissionForm.PartLimits {
    let photos = definitions.photos[Self.photoPost]
    return SubmissionForm.PartLimits(
      momentBytes: definitions.moment.limits.bytes, clipBytes: definitions.clip.limits.bytes,
      photoBytes: photos?.limits.bytes ?? 0, photos: photos?.photos ?? 0)
  }

  /// Returns a definition of photos or images by its name.
  func photoDefinition(_ name: String) throws -> PhotoDefinition {
    guard let definition = definitions.photos[name] else { preconditionFailure("unknown definition '\(name)'") }
    return definition
  }

  /// Returns the id of a post from the path; throws a problem with status 404 if it is malformed.
  func postID(_ request: Request) throws(Problem) -> PublicID {
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw Self.postNotFound(text) }
    return id
  }

  static func postNotFound(_ id: String) -> Problem {
    ProblemKind.postNotFound.problem("The post \(id) does not exist.")
  }

  /// Stores a submitted post and its media. It responds when both are durable on disk, before the media are processed,
  /// unless the client prefers to wait.
  private func submit(_ request: Request) async throws -> Response {
    let response = try await receiving(request) { try await insertPost(request) }
    return await awaitingJob(of: response, request)
  }

  private func insertPost(_ request: Request) async throws -> Response {
    let form = try await SubmissionForm(request, space: mediaSpace, limits: formLimits)
    try access.countSubmission(of: form.draft.author, request)
    let (store, definitions, urls) = (store, definitions, access.mediaURLs(for: request))
    let photoDefinition = try photoDefinition(Self.photoPost)
    let sources =
      switch form.media {
      case .moment(let clips): try Self.checkedMoment(clips, limits: definitions.moment.limits)
      case .clip(let clip): try Self.checkedClip(clip, limits: definitions.clip.limits)
      case .photos(let photos): try Self.checkedPhotos(photos, limits: photoDefinition.limits)
      }
    // Before the transaction, so that no lock is held during fsync.
    for source in sources { try source.content.synchronize() }
    let payload = form.text + sources.flatMap { [Array($0.role.rawValue.utf8), $0.content.hash.bytes] }
    let response = try await submitting(request, payload: payload) { session in
      let (draft, requestID) = (form.draft, request.id.description)
      let post =
        switch form.media {
        case .moment:
          try store.submit(draft, sources: sources, definition: definitions.moment, request: requestID, session)
        case .clip:
          try store.submit(draft, sources: sources, definition: definitions.clip, request: requestID, session)
        case .photos:
          try store.submit(draft, photos: sources, definition: photoDefinition, request: requestID, session)
        }
      guard let stored = try store.post(post, session) else { preconditionFailure("the inserted post is missing") }
      return IdempotentResponse(
        status: (stored.job == nil ? Status.created : .accepted).code, location: PostResponse.path(post),
        body: try JSON.encode(PostResponse(stored, urls)))
    }
    countSubmission(form.draft.kind.rawValue, bytes: sources.map(\.content.bytes).reduce(0, +), response)
    return response
  }

  private func readPost(_ request: Request) async throws -> Response {
    let (store, id) = (store, try postID(request))
    guard let post = try await database.read({ try store.post(id, $0) }) else { throw Self.postNotFound("\(id)") }
    return try respond(to: request, with: post)
  }

  private func changePost(_ request: Request) async throws -> Response {
    let id = try postID(request)
    let change = try PostChange(fields: try await JSONBody.fields(of: request))
    let store = store
    let post = try await database.transaction { session in
      switch try store.change(post: id, change, session, check: request.checkVersion) {
      case .changed: return try store.post(id, session)
      case .notFound: return nil
      case .missingText:
        throw ProblemKind.invalid([FieldError("caption", "is required without media and title")])
      }
    }
    guard let post else { throw Self.postNotFound("\(id)") }
    return try respond(to: request, with: post)
  }

  /// Returns a post with its version in the header field `ETag`.
  private func respond(to request: Request, with post: Post) throws -> Response {
    var response = try Response.uncached(PostResponse(post, access.mediaURLs(for: request)))
    response.headers["ETag"] = try post.version().description
    return response
  }

  private func deletePost(_ request: Request) async throws -> Response {
    let (store, id) = (store, try postID(request))
    guard try await database.transaction({ try store.delete(post: id, $0, check: request.checkVersion) }) else {
      throw Self.postNotFound("\(id)")
    }
    return await collectingReleased()
  }

  /// Returns the response to a deletion and deletes the released media. If that fails, a worker's maintenance task
  /// deletes them later.
  func collectingReleased() async -> Response {
    let store = store
    _ = try? await database.transaction { try store.collectReleased($0) }
    return Response(.noContent)
  }
}

extension Response {
  /// Returns a JSON response that caches must not store.
  static func uncached(_ value: some Encodable) throws -> Response {
    .json(.ok, try JSON.encode(value), headers: ["Cache-Control": "no-store"])
  }
}
