package import Model

/// A submission of a post: what the client says, and the files it brought.
package struct NewPost: Sendable {
  /// Chosen by who submits, so that submitting again after a lost answer does not make a second post.
  package var id: PublicID
  package var draft: PostDraft
  package var sources: [NewAsset]
  /// What is to be made of the sources; nil for a post without media, which is ready at once.
  package var definition: HashedDefinition?
  /// The queue for its job.
  package var queue: String
  /// The id of the request, for logs.
  package var request: String?

  package init(
    id: PublicID = .now(), draft: PostDraft, sources: [NewAsset], definition: HashedDefinition?,
    queue: String = "media", request: String? = nil
  ) {
    self.id = id
    self.draft = draft
    self.sources = sources
    self.definition = definition
    self.queue = queue
    self.request = request
  }
}
