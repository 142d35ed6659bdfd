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
        "POST", "/v1/posts", bodyLimit: SubmissionForm.mostBytes(clipBytes: definition.limits.bytes), handler: submit),
      route("GET", "/v1/posts/{id}", handler: readPost),
    ]
  }

  /// Takes a moment in: both clips and the post. It is answered once everything is on the disk, before any work is done.
  private func submit(_ request: Request) async throws -> Response {
    let form = try await SubmissionForm(request, blobs: blobs, clipBytes: definition.limits.bytes)
    let sources = try form.checkedSources(limits: definition.limits)
    // Before the transaction, so that it holds no lock while the disk is busy.
    for source in sources { try source.content.synchronize() }
    let (store, definition) = (store, definition)
    let post = try await database.transaction { session in
      let id = try store.submit(
        form.draft, sources: sources, definition: definition, request: request.id.description, session)
      return try store.post(id, session)
    }
    guard let post else { preconditionFailure("a transaction sees what it wrote") }
    // Waiting workers look by themselves before long: a notification that is lost loses nothing.
    try? await database.run { session in try JobQueue.announce(queue: PostJob.queue, session) }
    return .json(.accepted, try JSON.encode(PostAnswer(post)), headers: ["Location": PostAnswer.path(post.id)])
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
