import CRoomsSQL
import FoundationEssentials
package import Kit
package import Model
package import Platform
package import Postgres
import Queue
package import Store

/// The error for a user name that another user has.
package struct UserNameTaken: Error, Sendable, Hashable {}

/// The error for a profile that would lose the user name.
package struct UserNameRequired: Error, Sendable, Hashable {
  /// Whether the user signs in with it; otherwise the profile was replaced without naming it.
  package let signsIn: Bool
}

/// The error for a user who would become older, or of unknown age: posts from an age on are hidden by it.
package struct BirthDateFixed: Error, Sendable, Hashable {}

/// Users and their profiles.
package enum People: RecordRoom {
  package static let statements = Statements(
    topic: "people", Store.fragments, RoomsSQL.People)

  package static let schema: [EmbeddedText] = [RoomsSQL.People_schema]

  package static let migrations = [Migration(version: 160, name: "order", RoomsSQL.v0160_order)]

  /// Whether something of a user is stored: not every one has a profile or posts.
  private static let isMentioned = Statement(
    name: "people.is_mentioned",
    text: "SELECT " + [any Room.Type].all.flatMap { $0.forgetting }.compactMap(\.mention).joined(separator: " OR "))

  /// Relations, with requests, and without the blocks of others against the user.
  package static var exports: [Export] {
    [
      Export("relations", statements["relations_by_user"]) { row in
        ExportedRelation(
          kind: try row.get("kind"), target: try row.get("target"),
          createdAt: Date(microseconds: try row.get("created_at")), position: try row.get("position"))
      }
    ]
  }

  package static var forgetting: [ForgettingStep] {
    let mention = """
      EXISTS (SELECT FROM relation WHERE user_id = $1)
      OR EXISTS (SELECT FROM relation WHERE target = $1 AND kind IN ('friend', 'request', 'block', 'blocked'))
      """
    return [
      ForgettingStep(
        mention: mention, found: statements["relations_of_user_or_to"],
        by: [
          statements["lock_posts_of_relations"], statements["lock_users_of_relations"],
          statements["lock_places_of_relations"], statements["drop_relations_among"],
        ]),
      ForgettingStep(mention: "EXISTS (SELECT FROM app_user WHERE id = $1)", atEnd: statements["drop_user"]),
    ]
  }

  package static var checks: [RowCheck] {
    let kinds = RelationKind.all.filter { $0.target == .post }.map { "'\($0.name)'" }
    let relations = statements["check_relations"].filled("posts", ["posts": kinds.joined(separator: ", ")])
    return [
      // Triggers correct the counters with it.
      RowCheck("relation", relations, counted: "relations", repair: [statements["correct_relation"]]),
      RowCheck(
        "user", statements["check_users"], counted: "users",
        repair: [statements["lock_counted_user"], statements["correct_user"]]),
      RowCheck(
        "spelling", statements["check_spellings"],
        repair: [statements["lock_spelling"], statements["correct_spelling"]]),
    ]
  }

  /// Reads a user; nil if there is none, or if the user has blocked the viewer.
  package static func find(_ id: String, for viewer: Viewer, _ session: Session) throws -> AppUser? {
    try session.reading { session in
      try read(of: session.execute(Self.statements["user"], .text(id), viewer.parameter), viewer, session).first
    }
  }

  /// Finds a user of whom something is stored, by the id or by the user name in any case; returns the id, nil if there is
  /// none.
  package static func findID(_ name: String, _ session: Session) throws(PostgresError) -> String? {
    if let id = try session.execute(Self.statements["find_user"], .text(name)).first?.get("id", as: String.self) {
      return id
    }
    return try session.execute(isMentioned, .text(name)).single().get(0) ? name : nil
  }

  /// Reads users by their ids, in the order of these. Those who have blocked the viewer are missing.
  package static func list(_ ids: [String], for viewer: Viewer, _ session: Session) throws -> [AppUser] {
    try session.snapshot { session in
      try read(
        of: session.execute(Self.statements["users_by_id"], .texts(ids), viewer.parameter), viewer, session)
    }
  }

  /// Reads up to `limit` users with some values of fields, in the order of their ids. Those who have blocked the viewer are missing.
  package static func list(
    with fields: FieldFilter, for viewer: Viewer, limit: Int, _ session: Session
  ) throws -> [AppUser] {
    var parameters = [viewer.parameter, .integer(limit)]
    let conditions = fields.conditions.map { condition in
      parameters.append(.text(condition.parameter))
      return condition.text.replacing("$", with: "$\(parameters.count)")
    }.joined(separator: " AND ")
    return try session.snapshot { session in
      let statement = Self.statements["users_by_fields"].filled(conditions, ["conditions": conditions])
      return try read(of: session.execute(statement, parameters), viewer, session)
    }
  }

  /// Finds the user who has verified an address, for a client that sees all.
  static func list(withEmail email: String, _ session: Session) throws -> [AppUser] {
    let viewer = Viewer.unrestricted
    return try session.snapshot { session in
      try read(
        of: session.execute(Self.statements["user_with_email"], .text(email), viewer.parameter), viewer, session)
    }
  }

  /// Finds up to `limit` users by the beginning of the user name or the name, and in spite of typing errors, the best
  /// matches first. Those who have blocked the viewer are not found.
  package static func list(
    like text: String, for viewer: Viewer, limit: Int, _ session: Session
  ) throws -> [AppUser] {
    try session.snapshot { session in
      try session.execute(Self.statements["tolerate_errors"])
      return try read(
        of: session.execute(Self.statements["users"], .text(text), viewer.parameter, .integer(limit)), viewer, session)
    }
  }

  /// Creates or changes the profile of a user, who need not have posted before.
  ///
  /// - Parameter check: receives the user before the change, nil if there is none; an error from it prevents the change.
  /// - Throws: `OwnershipRefusal` unless the viewer is the user; `UserNameTaken`, `UserNameRequired`, `ForgottenRefusal`. The caller
  ///   must roll back.
  package static func save(
    _ change: ProfileChange, of id: String, for viewer: Viewer, _ session: Session,
    check: (AppUser?) throws -> Void = { _ in }
  ) throws {
    try viewer.require(owner: id)
    try Store.requireUsers(id, allowingSuspended: viewer == .unrestricted, in: session)
    let known = try find(id, for: viewer, session)
    // Also a user without a row is locked: of two changes at once each keeps what the other one says.
    try session.execute(Self.statements["add_users"], .texts([id]))
    try session.execute(Self.statements["lock_users"], .texts([id]))
    let locked = try find(id, for: viewer, session)
    if known == nil { try check(nil) } else { try check(locked) }
    let former = locked?.profile ?? Profile()
    var profile = change.applied(to: former)
    if viewer != .unrestricted, let known = former.birthDate {
      if change.isReplacement { profile.birthDate = profile.birthDate ?? known }
      // Texts of dates compare as the dates do.
      guard let date = profile.birthDate, date >= known else { throw BirthDateFixed() }
    }
    try Self.checkReserved(profile.userName, of: locked, for: viewer)
    try requireUserName(of: id, in: profile, change, former, session)
    try write(profile, fields: JSON.text(profile.fields ?? [:]), of: id, session)
    try alert(of: id, locked, profile, session)
  }

  /// Reports another address of a user to the rooms for which it matters.
  private static func alert(of id: String, _ former: AppUser?, _ profile: Profile, _ session: Session) throws {
    guard let email = former?.profile.email, former?.isEmailVerified == true else { return }
    // By bytes: canonically equivalent addresses may have two mailboxes.
    let folded = [email, profile.email].map { $0.map { Array(Profile.folded(userName: $0).utf8) } }
    guard folded[0] != folded[1] else { return }
    for room in [any Room.Type].all.profileObservers {
      try room.changedEmail(of: id, from: email, to: profile.email, session)
    }
  }

  private static func write(_ profile: Profile, fields: String, of id: String, _ session: Session) throws {
    do {
      try session.execute(
        Self.statements["save_profile"], .text(id), .text(profile.userName), .text(profile.name),
        .text(profile.givenName), .text(profile.familyName), .text(profile.bio), .text(profile.birthDate),
        .text(profile.email), .text(fields))
    } catch let error where error.constraint == "app_user_folded_user_name" {
      throw UserNameTaken()
    }
  }

  /// Throws `UserNameTaken` if a user takes a reserved name. A back-end may give one to a user, who then keeps it.
  private static func checkReserved(_ name: String?, of user: AppUser?, for viewer: Viewer) throws(UserNameTaken) {
    guard viewer != .unrestricted, let name, Profile.isReserved(userName: name) else { return }
    let former = user?.profile.userName.map(Profile.folded(userName:))
    guard former == Profile.folded(userName: name) else { throw UserNameTaken() }
  }

  /// Throws if the user signs in with a name that the change removes, or if it replaces the profile without naming the user name.
  private static func requireUserName(
    of id: String, in profile: Profile, _ change: ProfileChange, _ former: Profile, _ session: Session
  ) throws {
    let isForgotten = change.isReplacement && change.userName == .keep && former.userName != nil
    guard profile.userName == nil || isForgotten else { return }
    let signsIn = try [any Room.Type].all.profileObservers.contains { try $0.requiresUserName(id, session) }
    if signsIn { throw UserNameRequired(signsIn: true) }
    if isForgotten { throw UserNameRequired(signsIn: false) }
  }

  private static func read(of rows: Rows, _ viewer: Viewer, _ session: Session) throws -> [AppUser] {
    let sets = try rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
    let assets = try Assets.list(ofSets: sets, session)
    return try rows.map { row in
      let id = try row.get("id", as: String.self)
      let set = try row.get("asset_set_id", as: Int64?.self)
      var profile = Profile(
        userName: try row.get("user_name"), name: try row.get("name"), givenName: try row.get("given_name"),
        familyName: try row.get("family_name"), bio: try row.get("bio"), fields: try row.fields())
      if viewer.owns(id) {
        profile.birthDate = try row.get("birth_date")
        profile.email = try row.get("email")
      }
      return AppUser(
        id: id, profile: profile,
        isEmailVerified: viewer.owns(id) ? try row.get("is_email_verified", as: Bool.self) : nil,
        createdAt: Date(microseconds: try row.get("created_at")),
        revision: try row.get("revision"), posts: try row.get("posts"), friends: try row.get("friends"),
        image: Dictionary((set.flatMap { assets[$0] } ?? []).map { ($0.role, $0) }) { first, _ in first },
        tie: AppUser.Tie(
          Set(try (row.get("relations", as: String?.self) ?? "").split(separator: " ").map(String.init)),
          hasAsked: try row.get("has_asked")))
    }
  }
}

extension People {
  package static let record = RecordKind(
    .user, table: "app_user", author: "app_user.id", missing: .userNotFound, { "The user '\($0)' does not exist." },
    lock: { user, viewer, session in
      try Store.requireUsers(user.id, allowingSuspended: true, in: session)
      try session.execute(statements["add_author"], .text(user.id))
      let seen = try session.execute(statements["seen_user"], .text(user.id), viewer.parameter)
      return seen.isEmpty ? nil : RecordKind.Locked()
    })
}
