/// What is to be changed of a post; what is nil stays.
package struct PostChange: Sendable, Hashable {
  /// A value that may also be taken away.
  package enum Change<Value: Sendable & Hashable>: Sendable, Hashable {
    case keep
    case set(Value?)

    /// What becomes of a value.
    package func applied(to value: Value?) -> Value? {
      switch self {
      case .keep: value
      case .set(let new): new
      }
    }
  }

  package var title: Change<String>
  package var caption: Change<String>
  package var place: Change<Place>
  package var visibility: Visibility?

  package init(
    title: Change<String> = .keep, caption: Change<String> = .keep, place: Change<Place> = .keep,
    visibility: Visibility? = nil
  ) {
    self.title = title
    self.caption = caption
    self.place = place
    self.visibility = visibility
  }

  /// The draft as it is afterwards.
  package func applied(to draft: PostDraft) -> PostDraft {
    var draft = draft
    draft.title = title.applied(to: draft.title)
    draft.caption = caption.applied(to: draft.caption)
    draft.place = place.applied(to: draft.place)
    draft.visibility = visibility ?? draft.visibility
    return draft
  }
}
