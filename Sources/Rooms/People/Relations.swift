import FoundationEssentials
internal import Kit
package import Model
package import Postgres
import Queue
import Store

/// Relations of users to users, posts and places. Triggers keep the counters.
package enum Relations {
  /// The maximum number of friends of a user: each post is announced to all of them.
  package static let maxFriends = 5000

  /// Gives a user a relation, or asks for it, and notifies the other user; nil if the user does not see the target.
  /// Repetitions change nothing.
  ///
  /// - Parameter maxFriends: the maximum number of relations that both sides have, of a user.
  /// - Throws: `ForgottenRefusal`, or the problem that one of both has no room for the other.
  package static func relate(
    _ user: String, _ kind: RelationKind, to target: String, for viewer: Viewer, maxFriends: Int = maxFriends,
    _ session: Session
  ) throws -> Relation? {
    try Store.requireUsers(user, in: session)
    if kind.target == .user { try Store.requireUsers(target, allowingSuspended: true, in: session) }
    switch (kind.target, kind.rule) {
    case (.user, .bothSides):
      guard try ask(user, kind, to: target, viewer, maxFriends, session) else { return nil }
    case (.user, .ending):
      try lock(user, target, session)
      try drop(Self.bothSides(user, target, [RelationKind.friend.name, RelationKind.request]), session)
      try add([(user, target, kind.name), (target, user, RelationKind.blocked)], session)
    case (.post, _):
      let eyes = Viewer.user(user).parameter
      let locked = try session.execute(People.statements["lock_target_post"], .text(target), eyes)
      guard let author = try locked.first?.get("author", as: String.self) else { return nil }
      if try add([(user, target, kind.name)], session) > 0, kind.name == UserEvent.Kind.like.rawValue {
        try Store.notify(author, of: .like, by: user, post: PublicID(target), session)
      }
    case (.user, _), (.place, _): try add([(user, target, kind.name)], session)
    }
    return try find(of: user, kind, to: target, session)
  }

  /// Takes a relation, a request for it, or one that waits for the user, away from a user. Repetitions change nothing.
  ///
  /// - Parameter check: receives the locked relation, if there is one; an error from it prevents the change.
  package static func unrelate(
    _ user: String, _ kind: RelationKind, to target: String, _ session: Session, check: (Relation?) throws -> Void
  ) throws {
    switch kind.target {
    case .user: try lock(user, target, session)
    case .post:
      // It may be one that the user no longer sees.
      let eyes = Viewer.unrestricted.parameter
      try session.execute(People.statements["lock_target_post"], .text(target), eyes)
    case .place: break
    }
    try check(find(of: user, kind, to: target, session))
    switch kind.rule {
    case .ownSide: try drop([(user, target, kind.name)], session)
    case .bothSides: try drop(Self.bothSides(user, target, [kind.name, RelationKind.request]), session)
    case .ending: try drop([(user, target, kind.name), (target, user, RelationKind.blocked)], session)
    }
  }

  /// Reads a relation of a user, or the request for it; nil if there is none.
  package static func find(
    of user: String, _ kind: RelationKind, to target: String, _ session: Session
  ) throws -> Relation? {
    for (first, second, name) in [
      (user, target, kind.name), (user, target, RelationKind.request), (target, user, RelationKind.request),
    ] where name == kind.name || kind.rule == .bothSides {
      let rows = try session.execute(People.statements["relation"], .text(first), .text(second), .text(name))
      if let row = rows.first { return try Self.relation(row, kind, of: user) }
    }
    return nil
  }

  /// Reads a page of a user's relations of a kind, the newest first. Users who have blocked the viewer are left out.
  ///
  /// - Parameter state: other than `.established` for the requests of a kind that both sides have.
  package static func list(
    of user: String, _ kind: RelationKind, _ state: Relation.State, for viewer: Viewer, _ page: PageRequest,
    _ session: Session
  ) throws -> Page<Relation> {
    switch state {
    case .established: try Self.page(kind.name, kind, of: user, isTarget: false, viewer, page, session)
    case .sent: try Self.page(RelationKind.request, kind, of: user, isTarget: false, viewer, page, session)
    case .received: try Self.page(RelationKind.request, kind, of: user, isTarget: true, viewer, page, session)
    }
  }

  /// Reads a page of the users' relations to a target, the newest first. Users who have blocked the viewer, or whom the
  /// viewer has blocked, are left out. The caller checks that the viewer sees the target.
  package static func list(
    to target: String, _ kind: RelationKind, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Relation> {
    try Self.page(kind.name, kind, of: target, isTarget: true, viewer, page, session)
  }

  /// Asks for a relation that both sides have, or accepts it if the other user has asked; false if the other user does not
  /// exist, or if one of both has blocked the other.
  private static func ask(
    _ user: String, _ kind: RelationKind, to other: String, _ viewer: Viewer, _ maxFriends: Int, _ session: Session
  ) throws -> Bool {
    // An app's back-end may know users of whom this database has nothing.
    let known = try lock(user, other, addsOther: viewer == .unrestricted, session)
    guard known.contains(where: { $0.id.utf8.elementsEqual(other.utf8) }) else { return false }
    var own: Set<String> = []
    var others: Set<String> = []
    for row in try session.execute(People.statements["relations_between"], .text(user), .text(other)) {
      let isOwn = try row.get("user_id", as: String.self).utf8.elementsEqual(user.utf8)
      let name = try row.get("kind", as: String.self)
      if isOwn { own.insert(name) } else { others.insert(name) }
    }
    guard own.isDisjoint(with: [RelationKind.block.name, RelationKind.blocked]) else { return false }
    if own.contains(kind.name) || own.contains(RelationKind.request) { return true }
    for (id, friends) in known where friends >= maxFriends {
      throw ProblemKind.tooManyFriends.problem(
        "The user '\(id)' has \(friends) friends; at most \(maxFriends) are permitted.")
    }
    if others.contains(RelationKind.request) {
      try drop([(other, user, RelationKind.request)], session)
      try add(Self.bothSides(user, other, [kind.name]), session)
      try Store.notify(other, of: .friendAccepted, by: user, session)
    } else {
      try add([(user, other, RelationKind.request)], session)
      try Store.notify(other, of: .friendRequest, by: user, session)
    }
    return true
  }

  /// Locks the rows of two users until the transaction ends, so that only one transaction changes their relations; returns
  /// the ids of those that exist, and how many friends they have. The first user gets a row.
  @discardableResult
  private static func lock(
    _ user: String, _ other: String, addsOther: Bool = false, _ session: Session
  ) throws -> [(id: String, friends: Int)] {
    try session.execute(People.statements["add_users"], .texts(addsOther ? [user, other] : [user]))
    return try session.execute(People.statements["lock_users"], .texts([user, other])).map {
      (try $0.get("id"), try $0.get("friends"))
    }
  }

  private typealias Sides = [(user: String, target: String, kind: String)]

  private static func bothSides(_ user: String, _ other: String, _ kinds: [String]) -> Sides {
    kinds.flatMap { [(user, other, $0), (other, user, $0)] }
  }

  /// Inserts relations; returns the number of those that are new.
  @discardableResult
  private static func add(_ sides: Sides, _ session: Session) throws(PostgresError) -> Int {
    try session.execute(People.statements["add_relations"], Self.parameters(sides)).affected
  }

  private static func drop(_ sides: Sides, _ session: Session) throws(PostgresError) {
    try session.execute(People.statements["drop_relations"], Self.parameters(sides))
  }

  private static func parameters(_ sides: Sides) -> [Parameter] {
    [.texts(sides.map(\.user)), .texts(sides.map(\.target)), .texts(sides.map(\.kind))]
  }

  private static func page(
    _ name: String, _ kind: RelationKind, of end: String, isTarget: Bool, _ viewer: Viewer, _ page: PageRequest,
    _ session: Session
  ) throws -> Page<Relation> {
    let statement = isTarget ? People.statements["relations_to_target"] : People.statements["relations_of_user"]
    let rows = try session.execute(statement, [.text(name), .text(end)] + page.parameters + [viewer.parameter])
    // A request that was received is seen from the side of the user who got it.
    let user = name == RelationKind.request ? end : nil
    return try Page(rows, page) { try $0.map { try Self.relation($0, kind, of: user) } }
  }

  /// Reads a relation from the side of a user; nil: of the user who has it.
  static func relation(_ row: Row, _ kind: RelationKind, of user: String?) throws -> Relation {
    let (first, second): (String, String) = (try row.get("user_id"), try row.get("target"))
    let isRequest = try row.get("kind", as: String.self) == RelationKind.request
    let isOwn = user.map { $0.utf8.elementsEqual(first.utf8) } ?? true
    return Relation(
      kind: kind, user: isOwn ? first : second, target: isOwn ? second : first,
      state: isRequest ? (isOwn ? .sent : .received) : .established,
      createdAt: Date(microseconds: try row.get("created_at")))
  }
}

/// A relation of a user, or a request for it, as it is stored.
struct ExportedRelation: Encodable, Sendable, Hashable {
  let kind: String
  let target: String
  let createdAt: Date
  /// In the user's order.
  let position: Int?
}
