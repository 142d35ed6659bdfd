internal import Blobs
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

extension ControlAPI {
  var postRoutes: [Route] {
    [
      route(
        "POST", "/v1/posts", bodyLimit: formLimits.formBytes, handler: submit),
      route("GET", "/v1/posts/{id}", handler: readPost),
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

  /// Tells workers that there may be a job; a notification that is lost loses nothing, they look by themselves before long.
  func announce() async { try? await database.run { session in try JobQueue.announce(queue: PostJob.queue, session) } }

  /// Takes a post in: its media and what is said of it. It is answered once everything is on the disk, before any work is
  /// done.
  private func submit(_ request: Request) async throws -> Response {
    let form = try await SubmissionForm(request, blobs: blobs, limits: formLimits)
    let (store, definitions) = (store, definitions)
    let photoDefinition = try photoDefinition(Self.photoPost)
    let sources =
      switch form.media {
      case .moment(let clips): try Self.checkedMoment(clips, limits: definitions.moment.limits)
      case .clip(let clip): try Self.checkedClip(clip, limits: definitions.clip.limits)
      case .photos(let photos): try Self.checkedPhotos(photos, limits: photoDefinition.limits)
      }
    // Before the transaction, so that it holds no lock while the disk is busy.
    for source in sources { try source.content.synchronize() }
    let post = try await database.transaction { session in
      let (draft, request) = (form.draft, request.id.description)
      let id =
        switch form.media {
        case .moment:
          try store.submit(draft, sources: sources, definition: definitions.moment, request: request, session)
        case .clip:
          try store.submit(draft, sources: sources, definition: definitions.clip, request: request, session)
        case .photos:
          try store.submit(draft, photos: sources, definition: photoDefinition, request: request, session)
        }
      return try store.post(id, session)
    }
    guard let post else { preconditionFailure("a transaction sees what it wrote") }
    if post.job != nil { await announce() }
    return .json(
      post.job == nil ? .created : .accepted, try JSON.encode(PostAnswer(post)),
      headers: ["Location": PostAnswer.path(post.id)])
  }

  private func readPost(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let store = store
    guard let id = PublicID(text), let post = try await database.run({ try store.post(id, $0) }) else {
      throw ProblemKind.postNotFound.problem("There is no post \(text).")
    }
    return .json(.ok, try JSON.encode(PostAnswer(post)), headers: ["Cache-Control": "no-store"])
  }
}
