/// A kind of relation between a user and a user, a post or a place. The routes, the lists and the rules of a kind follow from
/// its line in `all`.
package struct RelationKind: Sendable, Hashable {
  /// What it is a relation to.
  package enum Target: String, Sendable {
    case user
    case post
    case place
  }

  /// How it comes about.
  package enum Rule: Sendable, Hashable {
    /// The user alone has it.
    case ownSide
    /// The user asks for it, and the other user accepts; then both have it.
    case bothSides
    /// The user alone has it, and it ends what they had on both sides.
    case ending
  }

  /// The value in the database, such as `like`.
  package let name: String
  /// The segment of its paths, such as `likes`.
  package let path: String
  package let target: Target
  package let rule: Rule
  /// Whether everybody who sees the target may see who has the relation to it; otherwise only a client that acts as no
  /// user.
  package let isOpen: Bool

  /// What a target is called to which a user has it, such as `liked`.
  package var flag: String { name.hasSuffix("e") ? name + "d" : name + "ed" }

  /// The largest number of relations that a user puts in an order.
  package static let maxOrdered = 1000

  /// Whether a user puts relations of the kind in an order of the user's own.
  package var hasOrder: Bool { target == .place }

  private init(_ name: String, _ path: String, to target: Target, _ rule: Rule = .ownSide, isOpen: Bool = false) {
    self.name = name
    self.path = path
    self.target = target
    self.rule = rule
    self.isOpen = isOpen
  }

  package static let friend = RelationKind("friend", "friends", to: .user, .bothSides)
  package static let block = RelationKind("block", "blocks", to: .user, .ending)

  package static let all = [
    friend,
    block,
    RelationKind("like", "likes", to: .post, isOpen: true),
    RelationKind("bookmark", "bookmarks", to: .post),
    RelationKind("favourite", "favourites", to: .place, isOpen: true),
  ]

  /// The value in the database of a request of the user that the other one has not accepted.
  package static let request = "request"
  /// The value in the database of a block seen from the side of the user who is blocked.
  package static let blocked = "blocked"
}
