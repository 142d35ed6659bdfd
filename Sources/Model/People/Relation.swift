package import FoundationEssentials

/// A stored relation between a user and a target.
package struct Relation: Sendable, Hashable {
  /// How far a relation has come about.
  package enum State: String, Codable, Sendable, CaseIterable {
    /// It holds.
    case established
    /// The user has asked for it.
    case sent
    /// The other user has asked for it.
    case received
  }

  package let kind: RelationKind
  /// The user who has it, from whose side it is seen.
  package let user: String
  /// The id of the other user, the post or the place.
  package let target: String
  package let state: State
  /// The time at which it was established or asked for.
  package let createdAt: Date

  package init(kind: RelationKind, user: String, target: String, state: State, createdAt: Date) {
    self.kind = kind
    self.user = user
    self.target = target
    self.state = state
    self.createdAt = createdAt
  }
}
