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

  /// Shares a collection of the viewer's with a user, or gives a member another role. Who knows the link joins as a viewer.
  /// Repetitions change nothing.
  ///
  /// - Parameter link: the hash of the secret that the viewer knows.
  /// - Throws: `OwnershipRefusal`, `ForgottenRefusal`. The caller must roll back.
  package static func share(
    _ id: PublicID, with user: String, as role: CollectionMember.Role, for viewer: Viewer, link: [UInt8]?,
    _ session: Session
  ) throws -> Shared {
    try Store.requireUsers(user, allowingSuspended: true, in: session)
    guard let locked = try lock(id, for: viewer, link: link, session) else { return .noCollection }
    if locked.role != .author {
      // A member keeps the role that the author has given.
      guard viewer.owns(user), locked.role == .link, role == .viewer else { throw OwnershipRefusal() }
    }
    guard !locked.author.utf8.elementsEqual(user.utf8) else { return .noUser }
    if locked.role == .link { try session.execute(People.statements["add_users"], .texts([user])) }
    let known = try session.execute(Self.statements["has_unblocked_user"], .text(user), .text(locked.author))
    guard !known.isEmpty else { return .noUser }
    let saved = try session.execute(
      Self.statements["save_member"], .integer(locked.number), .text(user), .text(role.rawValue))
    if saved.affected > 0 { try record(.shared, in: locked.number, by: viewer.user, member: user, session) }
    if locked.role == .author, try saved.first?.get("is_new", as: Bool.self) == true {
      try Store.notify(user, of: .collectionShared, by: locked.author, subject: id, session)
    }
    return .changed
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
          user: try row.get("user_id"), role: try row.enumValue("role"),
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
