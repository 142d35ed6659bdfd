import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of comments on posts, places and collections.
extension ControlAPI {
  var commentRoutes: [Route] {
    commentRoutes("/v1/posts/{id}") { .post(try postID($0)) }
      + commentRoutes("/v1/places/{id}") { .place(try name($0)) }
      + commentRoutes("/v1/collections/{id}") { .collection(try collectionID($0)) }
  }

  private func commentRoutes(
    _ path: String, _ subject: @escaping @Sendable (Request) throws -> CommentSubject
  ) -> [Route] {
    [
      route("POST", path + "/comments", access: .key([.submit]), bodyLimit: Int64(JSONBody.maxBytes)) {
        try await submitComment($0, on: subject($0))
      },
      route("GET", path + "/comments", access: .key([.read]), readsQuery: true) {
        try await listComments($0, on: subject($0))
      },
      route("GET", path + "/comments/{comment}", access: .key([.read])) { try await readComment($0, on: subject($0)) },
      route("DELETE", path + "/comments/{comment}", access: .key([.delete])) {
        try await deleteComment($0, on: subject($0))
      },
    ]
  }

  private static func notFound(_ subject: CommentSubject) -> Problem {
    switch subject {
    case .post(let id): postNotFound("\(id)")
    case .place(let id): placeNotFound(id)
    case .collection(let id): collectionNotFound("\(id)")
    }
  }

  private func submitComment(_ request: Request, on subject: CommentSubject) async throws -> Response {
    let fields = try await JSONBody.fields(of: request)
    var reader = FieldReader(fields, path: "")
    let author = reader.author(actingAs: request.caller.user)
    let text = reader.text("text", limit: MaxLength.text, isRequired: true, allowsEmpty: false)
    let errors = reader.finish()
    guard errors.isEmpty, let author, let text else { throw ProblemKind.invalid(errors) }
    _ = try request.caller.author(author)
    try access.countSubmission(of: author, request)
    let (store, viewer) = (store, request.caller.viewer)
    let stored = try await storeOnce(request, nil, payload: [Array(author.utf8), Array(text.utf8)]) { session in
      guard let comment = try store.comment(on: subject, for: viewer, author: author, text: text, session) else {
        throw Self.notFound(subject)
      }
      return StoredSubmission(
        created: try JSON.encode(CommentResponse(comment)), at: CommentResponse.path(comment.id, on: subject))
    }
    return stored.response
  }

  private func listComments(_ request: Request, on subject: CommentSubject) async throws -> Response {
    var reader = QueryReader(request.target)
    let page = reader.page()
    try reader.finish()
    let (store, viewer) = (store, request.caller.viewer)
    guard let comments = try await database.read({ try store.comments(on: subject, for: viewer, page, $0) }) else {
      throw Self.notFound(subject)
    }
    return try .uncached(PageResponse(comments, CommentResponse.init))
  }

  private func readComment(_ request: Request, on subject: CommentSubject) async throws -> Response {
    let text = request.parameter("comment")
    let (store, viewer) = (store, request.caller.viewer)
    guard let id = PublicID(text),
      let comment = try await database.read({ try store.comment(id, on: subject, for: viewer, $0) })
    else { throw Self.commentNotFound(text) }
    return try .versioned(CommentResponse(comment), comment)
  }

  static func commentNotFound(_ id: String) -> Problem {
    ProblemKind.commentNotFound.problem("There is no comment with the id \(id).")
  }

  private func deleteComment(_ request: Request, on subject: CommentSubject) async throws -> Response {
    let text = request.parameter("comment")
    let (store, viewer) = (store, request.caller.viewer)
    guard let id = PublicID(text),
      try await database.transaction({ session in
        try store.delete(comment: id, on: subject, for: viewer, session, check: request.checkVersion)
      })
    else { throw Self.commentNotFound(text) }
    return Response(.noContent)
  }
}

/// The JSON of a comment: of `post`, `place` and `collection`, one has a value.
struct CommentResponse: NilEncodable {
  let id: PublicID
  let post: PublicID?
  let place: String?
  let collection: PublicID?
  let author: String
  let text: String
  let hidden: Bool
  let createdAt: Date

  init(_ comment: Comment) {
    id = comment.id
    post = if case .post(let id) = comment.subject { id } else { nil }
    place = if case .place(let id) = comment.subject { id } else { nil }
    collection = if case .collection(let id) = comment.subject { id } else { nil }
    author = comment.author
    text = comment.text
    hidden = comment.isHidden
    createdAt = comment.createdAt
  }

  /// The path of a comment on something.
  static func path(_ id: PublicID, on subject: CommentSubject) -> String {
    let path =
      switch subject {
      case .post(let id): PostResponse.path(id)
      case .place(let id): StoredPlaceResponse.path(id)
      case .collection(let id): CollectionResponse.path(id)
      }
    return "\(path)/comments/\(id)"
  }
}
