package import Blobs
package import Model
package import Queue

/// What the API asks of the database.
package protocol ContentStore: Sendable {
  /// Keeps a submission and puts its job into the queue, in one transaction.
  func submit(_ draft: PostDraft, clips: [Camera: SealedBlob], requestID: String) async throws -> Post
  /// Nil if there is no such post.
  func post(_ id: PublicID) async throws -> Post?
  /// Nil if there is no such job.
  func job(_ id: PublicID) async throws -> JobRecord?
  /// Nil if there is no such asset, or if it is a source, which is never served.
  func media(_ id: PublicID) async throws -> StoredMedia?
  /// Throws if the database cannot be used.
  func check() async throws
}
