internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// Posts: taken in, read, changed and removed.
extension ControlAPI {
  var postRoutes: [Route] {
    [
      route("POST", "/v1/posts", needs: [.submit], bodyLimit: formLimits.formBytes, handler: submit),
      route("GET", "/v1/posts/{id}", needs: [.read], handler: readPost),
      route("PATCH", "/v1/posts/{id}", needs: [.change, .read], bodyLimit: Int64(JSONBody.most), handler: changePost),
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

  /// The definition of a kind of photos.
  func photoDefinition(_ name: String) throws -> PhotoDefinition {
    guard let definition = definitions.photos[name] else { preconditionFailure("there is no definition \(name)") }
    return definition
  }

  /// The post of a path; throws 404 where the path names none.
  func postID(_ request: Request) throws(Problem) -> PublicID {
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw Self.noPost(text) }
    return id
  }

  static func noPost(_ id: String) -> Problem { ProblemKind.postNotFound.problem("There is no post \(id).") }

  /// Takes a post in: its media and what is said of it. It is answered once everything is on the disk, before any work is
  /// done.
  private func submit(_ request: Request) async throws -> Response {
    let response = try await takingIn(request) { try await insertPost(request) }
    return await waiting(request, for: response)
  }

  private func insertPost(_ request: Request) async throws -> Response {
    let form = try await SubmissionForm(request, room: room, limits: formLimits)
    try access.countSubmission(of: form.draft.author, request)
    let (store, definitions, urls) = (store, definitions, access.mediaURLs(for: request))
    let photoDefinition = try photoDefinition(Self.photoPost)
    let sources =
      switch form.media {
      case .moment(let clips): try Self.checkedMoment(clips, limits: definitions.moment.limits)
      case .clip(let clip): try Self.checkedClip(clip, limits: definitions.clip.limits)
      case .photos(let photos): try Self.checkedPhotos(photos, limits: photoDefinition.limits)
      }
    // Before the transaction, so that it holds no lock while the disk is busy.
    for source in sources { try source.content.synchronize() }
    let payload = form.words + sources.flatMap { [Array($0.role.rawValue.utf8), $0.content.hash.bytes] }
    let response = try await submitting(request, payload: payload) { session in
      let (draft, id) = (form.draft, request.id.description)
      let post =
        switch form.media {
        case .moment:
          try store.submit(draft, sources: sources, definition: definitions.moment, request: id, session)
        case .clip:
          try store.submit(draft, sources: sources, definition: definitions.clip, request: id, session)
        case .photos:
          try store.submit(draft, photos: sources, definition: photoDefinition, request: id, session)
        }
      guard let stored = try store.post(post, session) else { preconditionFailure("a transaction sees what it wrote") }
      return IdempotentAnswer(
        status: (stored.job == nil ? Status.created : .accepted).code, location: PostAnswer.path(post),
        body: try JSON.encode(PostAnswer(stored, urls)))
    }
    countSubmission(form.draft.kind.rawValue, bytes: sources.map(\.content.bytes).reduce(0, +), response)
    return response
  }

  private func readPost(_ request: Request) async throws -> Response {
    let (store, id) = (store, try postID(request))
    guard let post = try await database.read({ try store.post(id, $0) }) else { throw Self.noPost("\(id)") }
    return try answer(request, with: post)
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
        throw JSONBody.problem([FieldError("caption", "is required where there are no media and no title")])
      }
    }
    guard let post else { throw Self.noPost("\(id)") }
    return try answer(request, with: post)
  }

  /// A post and its version.
  private func answer(_ request: Request, with post: Post) throws -> Response {
    var response = try Response.fresh(PostAnswer(post, access.mediaURLs(for: request)))
    response.headers["ETag"] = try post.version().description
    return response
  }

  private func deletePost(_ request: Request) async throws -> Response {
    let (store, id) = (store, try postID(request))
    guard try await database.transaction({ try store.delete(post: id, $0, check: request.checkVersion) }) else {
      throw Self.noPost("\(id)")
    }
    return await removed()
  }

  /// The answer to a removal; the media go now, or with the maintenance of any worker.
  func removed() async -> Response {
    let store = store
    _ = try? await database.transaction { try store.collectReleased($0) }
    return Response(.noContent)
  }
}

extension Response {
  /// A value as it is at this moment, not to be kept by caches.
  static func fresh(_ value: some Encodable) throws -> Response {
    .json(.ok, try JSON.encode(value), headers: ["Cache-Control": "no-store"])
  }
}
