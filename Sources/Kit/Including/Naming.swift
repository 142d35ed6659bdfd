internal import Model

/// A record that a response may include something for: a list of such records, and the read of one, take the parameter `include`.
protocol Naming {
  /// What the record itself is, if it is something to which users have relations.
  var itself: RecordID? { get }
  /// The users, posts and places that it names.
  var named: [RecordID] { get }
}

extension Naming {
  var itself: RecordID? { nil }
  var named: [RecordID] { [] }
}

extension Post: Naming {
  var itself: RecordID? { .post(id) }
  var named: [RecordID] { [.user(draft.author)] + [draft.place.map { .place($0.id) }].compactMap(\.self) }
}

extension Comment: Naming {
  var named: [RecordID] { [.user(author), subject] }
}

extension StoredImage: Naming {
  var named: [RecordID] { [draft.author.map(RecordID.user), draft.kind.subject(draft.owner)].compactMap(\.self) }
}

extension ImageKind {
  /// What an image of this kind is of; nil for an itinerary, which may be one that only the app knows.
  fileprivate func subject(_ owner: String) -> RecordID? {
    switch self {
    case .reaction: RecordID(.post, owner)
    case .profile: .user(owner)
    case .place: .place(owner)
    case .itinerary: nil
    }
  }
}

extension Relation: Naming {
  var named: [RecordID] { [.user(user)] + [kind.record(target)].compactMap(\.self) }
}

extension RelationKind {
  /// What a relation of this kind is to; nil if the text is no id of one.
  fileprivate func record(_ id: String) -> RecordID? {
    switch target {
    case .user: .user(id)
    case .post: RecordID(.post, id)
    case .place: .place(id)
    }
  }
}

extension AppUser: Naming {
  var itself: RecordID? { .user(id) }
}

extension StoredPlace: Naming {
  var itself: RecordID? { .place(id) }
  var named: [RecordID] { [author.map(RecordID.user)].compactMap(\.self) }
}

extension PlaceUser: Naming {
  var named: [RecordID] { [.user(user)] }
}

extension PlaceNote: Naming {
  var named: [RecordID] { [.place(place)] }
}

extension PlaceRating: Naming {
  var named: [RecordID] { [.place(place)] }
}

extension CalendarDay: Naming {
  var itself: RecordID? { .post(post) }
}

extension StoredCollection: Naming {
  var named: [RecordID] { [.user(author)] + (content.items ?? []).compactMap(\.subject.record) }
}

extension CollectionItem.Subject {
  /// Nil: the viewer does not see it.
  fileprivate var record: RecordID? {
    switch self {
    case .place(let id): .place(id)
    case .post(let id): .post(id)
    case .hidden: nil
    }
  }
}

extension CollectionMember: Naming {
  var named: [RecordID] { [.user(user)] }
}

extension CollectionActivity: Naming {
  var named: [RecordID] { [user, member].compactMap(\.self).map(RecordID.user) }
}
