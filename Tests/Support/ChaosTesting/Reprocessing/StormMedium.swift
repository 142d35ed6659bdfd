import Model

/// A stored post or image of a storm over reprocessing.
struct StormMedium: Sendable, Hashable {
  /// By the names that the command line knows.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case take5, marker, photo, place

    /// Several of it, for a reader.
    var title: String {
      switch self {
      case .take5: "moments"
      case .marker: "markers"
      case .photo: "photos"
      case .place: "images"
      }
    }
  }

  /// Whose outputs must be the same bytes: those of one kind with the same sources.
  struct Sources: Sendable, Hashable {
    let kind: Kind
    let number: Int
  }

  let sources: Sources
  let id: PublicID

  /// Where it is read.
  var path: String { sources.kind == .place ? "/v1/images/\(id)" : "/v1/posts/\(id)" }
}
