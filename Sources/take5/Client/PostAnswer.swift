import Model

/// A post as the API tells it, as far as the command line reads it.
struct PostAnswer: Decodable {
  /// One asset of a post.
  struct Asset: Decodable {
    let url: String
    let type: String
    let bytes: Int64
    let width: Int?
    let height: Int?
    let duration: Double?
  }

  let id: PublicID
  let status: PostStatus
  let reasons: [Reason]
  let job: JobAnswer?
  let assets: [Role: Asset]
}
