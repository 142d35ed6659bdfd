/// What a client says of an image when it submits one.
package struct ImageDraft: Sendable, Hashable {
  package var kind: ImageKind
  /// The app's own name of whose it is: a user, an itinerary or a place; of a reaction the id of the post.
  package var owner: String
  /// The app's own name of who submits it, where that is not the owner.
  package var author: String?

  package init(kind: ImageKind, owner: String, author: String? = nil) {
    self.kind = kind
    self.owner = owner
    self.author = author
  }
}
