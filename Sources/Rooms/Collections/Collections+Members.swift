import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// With whom collections are shared, and what was done with them. Each change runs in a transaction of the caller's.
extension Collections {
  /// The result of a change of the members.
  package enum Shared: Sendable, Hashable {
    case changed
    case noCollection
    /// The user does not exist, or the author and the user are separated by a block.
    case noUser
  }

  /// Shares a collection of the viewer's with a user, or gives a member another role. A user who was asked once becomes a member only
  /// by accepting, and is asked again after declining. Who knows the link joins as a viewer. Repetitions change nothing.
  ///
  /// - Parameters:
  ///   - link: the hash of the secret that the viewer knows.
  ///   - asks: whether to ask the user first, by the kind of the collection.
  /// - Throws: `OwnershipRefusal`, `ForgottenRefusal`. The caller must roll back.
  package static func share(
    _ id: PublicID, with user: String, as role: Membership.Role, for viewer: Viewer, link: [UInt8]?,
    asks: (_ kind: String) throws -> Bool = { _ in false }, _ session: Session
  ) throws -> Shared {
    try Store.requireUsers(user, allowingSuspended: true, in: session)
    guard let locked = try lock(id, for: viewer, link: link, session) else { return .noCollection }
    guard locked.role == .author else {
      // A member keeps the role that the author has given.
      guard role == .viewer else { throw OwnershipRefusal() }
      return try answer(id, by: user, .accepted, for: viewer, link: link, session)
    }
    guard !locked.author.utf8.elementsEqual(user.utf8), try isKnown(user, to: locked.author, session) else {
      return .noUser
    }
    let asks = try asks(locked.kind)
    let former = try membership(of: user, in: locked.number, session)
    let state: Membership.State =
      switch former?.state {
      case nil: asks ? .invited : .accepted
      case .accepted: .accepted
      case .invited, .declined: .invited
      }
    let membership = Membership(role: role, state: state)
    guard membership != former else { return .changed }
    try save(membership, of: user, in: locked.number, session)
    let isNew = former?.state != state
    try record(
      isNew && state == .invited ? .invited : .shared, in: locked.number, by: viewer.user, member: user, session)
    if isNew {
      try Store.notify(
        user, of: .collectionShared, by: locked.author, subject: id, data: JSON.encode(["state": state]), session)
    }
    return .changed
  }

  /// Accepts or declines an invitation for the user who was asked, who may change the answer. Who knows the link joins as a viewer.
  /// Repetitions change nothing.
  ///
  /// - Parameter link: the hash of the secret that the viewer knows.
  /// - Throws: `OwnershipRefusal`, `ForgottenRefusal`, `SuspendedRefusal`. The caller must roll back.
  package static func answer(
    _ id: PublicID, by user: String, _ state: Membership.State, for viewer: Viewer, link: [UInt8]?, _ session: Session
  ) throws -> Shared {
    try Store.requireUsers(user, in: session)
    guard let locked = try lock(id, for: viewer, link: link, session) else { return .noCollection }
    guard viewer.owns(user) else { throw OwnershipRefusal() }
    guard var membership = try membership(of: user, in: locked.number, session) else {
      // The author is no member, and a client that acts as no user asks for none.
      guard locked.role != .author else { return .noUser }
      guard locked.role == .link, state == .accepted else { throw OwnershipRefusal() }
      try session.execute(People.statements["add_users"], .texts([user]))
      guard try isKnown(user, to: locked.author, session) else { return .noUser }
      try save(Membership(role: .viewer, state: .accepted), of: user, in: locked.number, session)
      try record(.shared, in: locked.number, by: viewer.user, member: user, session)
      return .changed
    }
    guard membership.state != state else { return .changed }
    membership.state = state
    try save(membership, of: user, in: locked.number, session)
    let accepts = state == .accepted
    try record(accepts ? .accepted : .declined, in: locked.number, by: viewer.user, member: user, session)
    try Store.notify(
      locked.author, of: accepts ? .invitationAccepted : .invitationDeclined, by: user, subject: id, session)
    return .changed
  }

  private static func isKnown(_ user: String, to author: String, _ session: Session) throws -> Bool {
    try !session.execute(Self.statements["has_unblocked_user"], .text(user), .text(author)).isEmpty
  }

  private static func membership(of user: String, in number: Int64, _ session: Session) throws -> Membership? {
    try session.execute(Self.statements["member"], .integer(number), .text(user)).first.map(Membership.init)
  }

  private static func save(
    _ membership: Membership, of user: String, in number: Int64, _ session: Session
  ) throws {
    try session.execute(
      Self.statements["save_member"], .integer(number), .text(user), .text(membership.role.rawValue),
      .text(membership.state.rawValue))
  }

  /// Ends the sharing of a collection with a user: the author removes a member, or a member leaves. False if the viewer sees no
  /// such collection, or the user is no member of it.
  ///
  /// - Throws: `OwnershipRefusal`.
  package static func unshare(
    _ id: PublicID, with user: String, for viewer: Viewer, _ session: Session
  ) throws -> Bool {
    guard let locked = try lock(id, for: viewer, session) else { return false }
    guard locked.role == .author || viewer.owns(user) else { throw OwnershipRefusal() }
    // Who has declined is not added later without being asked.
    if !viewer.owns(user), try membership(of: user, in: locked.number, session)?.state == .declined { return true }
    return try remove(member: user, from: locked.number, by: viewer.user, session)
  }

  static func remove(member: String, from number: Int64, by user: String?, _ session: Session) throws -> Bool {
    let dropped = try session.execute(Self.statements["drop_member"], .integer(number), .text(member)).affected
    if dropped > 0 { try record(.unshared, in: number, by: user, member: member, session) }
    return dropped > 0
  }

  /// Reads a page of the members of a collection, in the order of their ids; nil if the viewer is neither its author nor a member.
  ///
  /// - Parameter user: the last user of the page before.
  package static func members(
    of id: PublicID, after user: String?, limit: Int, for viewer: Viewer, _ session: Session
  ) throws -> (items: [CollectionMember], hasMore: Bool)? {
    try session.snapshot { session in
      guard let number = try number(of: id, for: viewer, session) else { return nil }
      let members = try session.execute(
        Self.statements["collection_members"], .integer(number), .text(user ?? ""), .integer(limit + 1)
      ).map { row in
        CollectionMember(
          user: try row.get("user_id"), try Membership(row),
          createdAt: Date(microseconds: try row.get("created_at")))
      }
      return (Array(members.prefix(limit)), members.count > limit)
    }
  }

  /// Gives a collection of the viewer's another link, or none; false if the viewer sees no such collection.
  ///
  /// - Parameter link: the hash of the secret; nil: the link is revoked.
  /// - Throws: `OwnershipRefusal` unless the viewer is the author.
  package static func setLink(
    _ link: [UInt8]?, of id: PublicID, for viewer: Viewer, _ session: Session
  ) throws -> Bool {
    guard let locked = try lock(id, for: viewer, session) else { return false }
    guard locked.role == .author else { throw OwnershipRefusal() }
    try session.execute(Self.statements["set_link"], .integer(locked.number), .bytes(link))
    try record(link == nil ? .unshared : .shared, in: locked.number, by: viewer.user, session)
    return true
  }

  /// Records that a user has seen a collection.
  package static func recordView(of id: PublicID, by user: String, link: [UInt8]?, _ session: Session) throws {
    try Store.requireUsers(user, in: session)
    guard try lock(id, for: .user(user), link: link, session) != nil else { return }
    // Another request may have recorded it in the meantime.
    guard let seen = try find(id, for: .user(user), link: link, reader: user, session), seen.isNewView,
      let number = try number(of: id, for: .unrestricted, session)
    else { return }
    try record(.viewed, in: number, by: user, session)
  }

  /// Reads a page of what was done with a collection, the latest first; nil if the viewer is neither its author nor a member.
  package static func activity(
    of id: PublicID, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<CollectionActivity>? {
    try session.snapshot { session in
      guard let number = try number(of: id, for: viewer, session) else { return nil }
      let rows = try session.execute(
        Self.statements["activities"], .integer(number), .integer(page.after?.id ?? .max), .integer(page.limit + 1))
      return try Page(rows, page) { shown in
        try shown.map { row in
          CollectionActivity(
            kind: try row.enumValue("kind"), user: try row.get("user_id"), member: try row.get("member"),
            keys: try row.json("keys"), createdAt: Date(microseconds: try row.get("created_at")))
        }
      }
    }
  }

  /// Returns the number of a collection in the database; nil if the viewer is neither its author nor a member.
  private static func number(of id: PublicID, for viewer: Viewer, _ session: Session) throws -> Int64? {
    let rows = try session.execute(
      Self.statements["collection"], .text(id.description), viewer.parameter, .bytes(nil), .text(nil))
    guard let row = rows.first else { return nil }
    let role: StoredCollection.Role = try row.enumValue("role")
    return role.isMember ? try row.get("id") : nil
  }

  static func record(
    _ kind: CollectionActivity.Kind, in number: Int64, by user: String?, member: String? = nil, keys: [String] = [],
    _ session: Session
  ) throws {
    try session.execute(
      Self.statements["add_activity"], .integer(number), .text(kind.rawValue), .text(user), .text(member),
      .texts(keys))
    try session.execute(Self.statements["drop_old_activities"], .integer(number))
  }
}

extension Membership {
  fileprivate init(_ row: Row) throws {
    self.init(role: try row.enumValue("role"), state: try row.enumValue("state"))
  }
}
