import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// The routes of comments on posts, places and collections.
struct CommentRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    commentRoutes("/v1/posts/{id}") { .post(try id(.post, $0)) }
      + commentRoutes("/v1/places/{id}") { .place(try name($0)) }
      + commentRoutes("/v1/collections/{id}") { .collection(try id(.collection, $0)) }
  }

  private func commentRoutes(
    _ path: String, _ subject: @escaping @Sendable (Request) throws -> RecordID
  ) -> [Route] {
    let (list, single) = (path + "/comments", path + "/comments/{comment}")
    return [
      route("POST", list, access: .key([.submit]), bodyLimit: JSONBody.limit) {
        try await submitComment($0, on: subject($0))
      },
      route("GET", list, access: .key([.read]), readsQuery: true) { request in
        let subject = try subject(request)
        return try await self.list(request, CommentResponse.init, else: Self.notFound(subject)) {
          try Comments.list(on: subject, for: $0, $1, $2)
        }
      },
      route("GET", single, access: .key([.read]), includes: true) { request in
        let (subject, id) = (try subject(request), try id(.comment, request, "comment"))
        return try await show(request, CommentResponse.init, else: Self.notFound(.comment, id)) {
          try Comments.find(id, on: subject, for: $0, $1)
        }
      },
      route("PATCH", single, access: .key([.change, .read]), bodyLimit: JSONBody.limit) {
        try await changeComment($0, on: subject($0))
      },
      route("DELETE", single, access: .key([.delete])) { request in
        let (subject, id) = (try subject(request), try id(.comment, request, "comment"))
        return try await delete(request, else: Self.notFound(.comment, id)) {
          try Comments.delete(id, on: subject, for: $0, $1, check: request.checkVersion)
        }
      },
    ]
  }

  private func submitComment(_ request: Request, on subject: RecordID) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let author = reader.author(actingAs: request.caller.user)
    let text = reader.prose("text", limit: MaxLength.text, isRequired: true, allowsEmpty: false) ?? ""
    try reader.check()
    _ = try request.caller.author(author)
    try access.countSubmission(of: author, request)
    let viewer = request.caller.viewer
    let stored = try await storeOnce(request, nil, payload: [Array(author.utf8), Array(text.utf8)]) { session in
      guard let comment = try Comments.insert(on: subject, for: viewer, author: author, text: text, session) else {
        throw Self.notFound(subject)
      }
      return try StoredSubmission(
        created: comment, CommentResponse(comment), at: CommentResponse.path(comment.id, on: subject))
    }
    return stored.response
  }

  private func changeComment(_ request: Request, on subject: RecordID) async throws -> Response {
    let id = try id(.comment, request, "comment")
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let text = reader.prose("text", limit: MaxLength.text, isRequired: true, allowsEmpty: false) ?? ""
    try reader.check()
    try access.countSubmission(of: request.caller.viewer.user ?? "", request)
    return try await show(request, CommentResponse.init, changing: true, else: Self.notFound(.comment, id)) {
      try Comments.change(id, on: subject, to: text, for: $0, $1, check: request.checkVersion)
    }
  }
}

/// The JSON of a comment: of `post`, `place` and `collection`, one has a value.
struct CommentResponse: NilEncodable {
  let id: PublicID
  let post: String?
  let place: String?
  let collection: String?
  let author: String
  let text: String
  let hidden: Bool
  let createdAt: Date
  let editedAt: Date?

  init(_ comment: Comment) {
    id = comment.id
    post = comment.subject.id(ifOf: .post)
    place = comment.subject.id(ifOf: .place)
    collection = comment.subject.id(ifOf: .collection)
    author = comment.author
    text = comment.text
    hidden = comment.isHidden
    createdAt = comment.createdAt
    editedAt = comment.editedAt
  }

  /// The path of a comment on something.
  static func path(_ id: PublicID, on subject: RecordID) -> String { "\(subject.path)/comments/\(id)" }
}

extension Comment: Versioned {
  var version: some Encodable { ["id": "\(id)", "author": author, "text": text] }
}
