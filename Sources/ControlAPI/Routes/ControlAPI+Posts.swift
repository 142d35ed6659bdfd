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
      upload("POST", Self.postsTemplate, scopes: [.submit], bodyLimit: formLimits.formBytes, submit: submitPost),
      route("GET", "/v1/posts/{id}", access: .key([.read]), handler: readPost),
      route(
        "PATCH", "/v1/posts/{id}", access: .key([.change, .read]), bodyLimit: Int64(JSONBody.maxBytes),
        handler: changePost),
      route("DELETE", "/v1/posts/{id}", access: .key([.delete]), handler: deletePost),
    ]
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

  private func readPost(_ request: Request) async throws -> Response {
    let (store, viewer, id) = (store, request.caller.viewer, try postID(request))
    guard let post = try await database.read({ try store.post(id, for: viewer, $0) }) else {
      throw Self.postNotFound("\(id)")
    }
    return try respond(to: request, with: post)
  }

  private func changePost(_ request: Request) async throws -> Response {
    let id = try postID(request)
    let change = try PostChange(fields: try await JSONBody.fields(of: request))
    let (store, viewer) = (store, request.caller.viewer)
    let post = try await database.transaction { session in
      switch try store.change(post: id, for: viewer, change, session, check: request.checkVersion) {
      case .changed: return try store.post(id, for: viewer, session)
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
    try .versioned(PostResponse(post, access.mediaURLs(for: request), for: request.caller.viewer), post)
  }

  private func deletePost(_ request: Request) async throws -> Response {
    let (store, viewer, id) = (store, request.caller.viewer, try postID(request))
    let isDeleted = try await database.transaction { session in
      try store.delete(post: id, for: viewer, session, check: request.checkVersion)
    }
    guard isDeleted else { throw Self.postNotFound("\(id)") }
    return await collectingReleased()
  }

  /// Returns the response to a deletion and deletes the released media. If that fails, a worker's maintenance task
  /// deletes them later.
  func collectingReleased() async -> Response {
    _ = try? await store.collectReleased(database)
    return Response(.noContent)
  }
}

extension Response {
  /// Returns a JSON response that caches must not store.
  static func uncached(_ value: some Encodable) throws -> Response {
    .json(.ok, try JSON.encode(value), headers: ["Cache-Control": "no-store"])
  }
}
