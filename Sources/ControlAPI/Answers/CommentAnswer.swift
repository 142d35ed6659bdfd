import FoundationEssentials
internal import Model

/// A comment as clients read it.
struct CommentAnswer: Encodable {
  let id: PublicID
  let post: PublicID
  let author: String
  let text: String
  let createdAt: Date

  init(_ comment: Comment) {
    id = comment.id
    post = comment.post
    author = comment.author
    text = comment.text
    createdAt = comment.createdAt
  }
}
