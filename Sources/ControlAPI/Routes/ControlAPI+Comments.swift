import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of comments.
extension ControlAPI {
  var commentRoutes: [Route] {
    [
      route(
        "POST", "/v1/posts/{id}/comments", access: .key([.submit]), bodyLimit: Int64(JSONBody.maxBytes),
        handler: submitComment),
      route("GET", "/v1/posts/{id}/comments", access: .key([.read]), handler: listComments),
      route("GET", "/v1/posts/{id}/comments/{comment}", access: .key([.read]), handler: readComment),
      route("DELETE", "/v1/posts/{id}/comments/{comment}", access: .key([.delete]), handler: deleteComment),
    ]
  }

  private func submitComment(_ request: Request) async throws -> Response {
    let post = try postID(request)
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
      guard let comment = try store.comment(on: post, for: viewer, author: author, text: text, session) else {
        throw Self.postNotFound("\(post)")
      }
      return try StoredSubmission(CommentResponse(comment))
    }
    return stored.response
  }

  private func listComments(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let page = reader.page()
    try reader.finish()
    let (store, viewer, post) = (store, request.caller.viewer, try postID(request))
    guard let comments = try await database.read({ try store.comments(on: post, for: viewer, page, $0) }) else {
      throw Self.postNotFound("\(post)")
    }
    return try .uncached(PageResponse(comments, CommentResponse.init))
  }

  private func readComment(_ request: Request) async throws -> Response {
    let text = request.parameter("comment")
    let (store, viewer, post) = (store, request.caller.viewer, try postID(request))
    guard let id = PublicID(text),
      let comment = try await database.read({ try store.comment(id, on: post, for: viewer, $0) })
    else { throw Self.commentNotFound(text) }
    return try .versioned(CommentResponse(comment), comment)
  }

  private static func commentNotFound(_ id: String) -> Problem {
    ProblemKind.commentNotFound.problem("The post has no comment with the id \(id).")
  }

  private func deleteComment(_ request: Request) async throws -> Response {
    let text = request.parameter("comment")
    let (store, viewer, post) = (store, request.caller.viewer, try postID(request))
    guard let id = PublicID(text),
      try await database.transaction({ session in
        try store.delete(comment: id, on: post, for: viewer, session, check: request.checkVersion)
      })
    else { throw Self.commentNotFound(text) }
    return Response(.noContent)
  }
}

/// The JSON of a comment.
struct CommentResponse: Encodable {
  let id: PublicID
  let post: PublicID
  let author: String
  let text: String
  let createdAt: Date

  /// The path of the comment.
  var path: String { "\(PostResponse.path(post))/comments/\(id)" }

  init(_ comment: Comment) {
    id = comment.id
    post = comment.post
    author = comment.author
    text = comment.text
    createdAt = comment.createdAt
  }
}
