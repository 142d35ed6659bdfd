import Model

/// What stands in a post's job.
struct JobArguments: Codable, Sendable {
  let post: PublicID
}
