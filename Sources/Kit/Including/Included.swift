internal import Model

/// The JSON of what a response includes: the parts that its client wants, each by the ids of what it describes.
package struct Included: Encodable, Sendable {
  /// The state of the viewer.
  struct Mine: Encodable, Sendable {
    struct User: NilEncodable, Sendable {
      let state: AppUser.Tie?
    }

    let users: [String: User]
    /// Whether the viewer has each kind of relation to a post or a place, such as `liked`.
    let posts: [String: [String: Bool]]
    let places: [String: [String: Bool]]
  }

  var users: [String: IncludedRecord]?
  var places: [String: IncludedRecord]?
  var mine: Mine?
}

extension Included.Mine {
  /// - Parameter kinds: the kinds of relations that the viewer has to each id, and `received` for a request to the viewer.
  init(users: [String], posts: [String], places: [String], _ kinds: [String: Set<String>]) {
    func flags(_ target: RelationKind.Target, _ ids: [String]) -> [String: [String: Bool]] {
      let known = RelationKind.all.filter { $0.target == target }
      return Dictionary(
        ids.map { id in
          (id, Dictionary(known.map { ($0.flag, kinds[id]?.contains($0.name) == true) }) { first, _ in first })
        }
      ) { first, _ in first }
    }
    // A user who has blocked the viewer is not there.
    let seen = users.filter { kinds[$0]?.contains(RelationKind.blocked) != true }
    self.users = Dictionary(
      seen.map { id in
        let kinds = kinds[id] ?? []
        return (id, User(state: AppUser.Tie(kinds, hasAsked: kinds.contains("received"))))
      }
    ) { first, _ in first }
    self.posts = flags(.post, posts)
    self.places = flags(.place, places)
  }
}

/// The JSON of a page or a record, with what it includes.
struct Including<Value: Encodable>: Encodable {
  let value: Value
  let included: Included

  private enum CodingKeys: CodingKey { case included }

  func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(included, forKey: .included)
  }
}

extension Including: NilEncodable where Value: NilEncodable {}

extension AppUser.Tie {
  /// - Parameters:
  ///   - kinds: the kinds of the relations that the viewer has to the user, in the database.
  ///   - hasAsked: whether the user has asked for friendship.
  package init?(_ kinds: Set<String>, hasAsked: Bool) {
    if kinds.contains(RelationKind.block.name) {
      self = .blocked
    } else if kinds.contains(RelationKind.friend.name) {
      self = .friend
    } else if kinds.contains(RelationKind.request) {
      self = .requested
    } else {
      guard hasAsked else { return nil }
      self = .received
    }
  }
}
