package import Model

/// What a job for a post is about: its arguments in the queue.
package struct PostJob: Codable, Sendable, Hashable {
  /// The kind of such jobs.
  package static let kind = "post"
  /// The queue that they wait in.
  package static let queue = "media"

  package let post: PublicID

  package init(post: PublicID) { self.post = post }
}
