import CRoomsSQL
import FoundationEssentials
package import Kit
package import Model
package import Platform
package import Postgres
import Queue
package import Store

/// The error for items that are posts which the viewer does not see, or that would be too many.
package enum ItemRefusal: Error, Sendable, Hashable {
  case unknownPosts([PublicID])
  /// More entries stand for posts that the viewer does not see than there are.
  case nothingHidden
  case tooMany(limit: Int)
}

/// Collections. Each change runs in a transaction of the caller's. Triggers keep the counters but that of comments.
package enum Collections: RecordRoom {
  package static let statements = Statements(
    topic: "collections", Store.fragments, RoomsSQL.Collections)

  package static let schema: [EmbeddedText] = [RoomsSQL.Collections_schema]

  package static let migrations = [
    Migration(version: 157, name: "sharing", RoomsSQL.v0157_sharing)
  ]

  package static var exports: [Export] {
    [
      Export("collections", statements["collections_by_user"]) { row, user, session in
        try find(row.publicID("public_id"), for: .user(user), session).map { ExportedCollection($0.collection) }
      }
    ]
  }

  package static var forgetting: [ForgettingStep] {
    [
      // One by one, for all, with its thumbnail.
      ForgettingStep(mention: "EXISTS (SELECT FROM collection WHERE author = $1)") { user, session in
        let found = try session.execute(statements["collections_of_user"], .text(user), .integer(1))
        for row in found { _ = try delete(row.publicID("public_id"), for: .unrestricted, session) { _ in } }
        return !found.isEmpty
      },
      ForgettingStep(
        mention: "EXISTS (SELECT FROM collection_member WHERE user_id = $1)",
        statements["drop_memberships_of_user"], statements["blank_activity_of_user"],
        lockedBy: [statements["lock_collections_of_member"]]),
    ]
  }

  package static var checks: [RowCheck] {
    [
      RowCheck(
        "collection", statements["check_collections"],
        repair: [statements["lock_counted_collection"], statements["correct_collection"]])
    ]
  }

  /// Creates a collection.
  ///
  /// - Throws: `ItemRefusal`, `ForgottenRefusal`.
  package static func create(
    _ kind: CollectionDefinition, _ content: CollectionContent, by author: String, for viewer: Viewer,
    _ session: Session
  ) throws -> PublicID {
    try Store.requireUsers(author, in: session)
    try session.execute(People.statements["add_users"], .texts([author]))
    let items = content.items ?? []
    try lockPosts(items, for: viewer, session)
    let id = PublicID.now()
    let row = try session.execute(
      Self.statements["insert_collection"], .text(id.description), .text(kind.name), .text(author),
      .text(content.name), .text(content.visibility.rawValue), .text(JSON.text(content.fields))
    ).single()
    let number: Int64 = try row.get("id")
    try add(items, to: number, session)
    try record(.created, in: number, by: author, session)
    return id
  }

  /// Reads a collection with its items; nil if the viewer sees none with this id.
  ///
  /// - Parameters:
  ///   - link: the hash of the secret that the viewer knows.
  ///   - reader: the user whose view is to be recorded.
  /// - Returns: the collection, and whether `recordView` is to be called.
  package static func find(
    _ id: PublicID, for viewer: Viewer, link: [UInt8]? = nil, reader: String? = nil, _ session: Session
  ) throws -> (collection: StoredCollection, isNewView: Bool)? {
    try session.reading { session in
      let rows = Array(
        try session.execute(
          Self.statements["collection"], .text(id.description), viewer.parameter, .bytes(link), .text(reader)))
      guard let row = rows.first else { return nil }
      let role: StoredCollection.Role = try row.enumValue("role")
      let items = try session.execute(
        Self.statements["collection_items"], .integer(row.get("id", as: Int64.self)), viewer.parameter,
        .bool(role.isMember)
      ).map(Self.item)
      let collection = try read(of: rows, items, session)[0]
      // Whom the members know: of others there may be any number.
      return (collection, try role != .reader && row.get("is_new_view"))
    }
  }

  /// Reads a page of the collections of a user and of those that are shared with the user, the newest first, without items.
  ///
  /// - Parameters:
  ///   - roles: what the user is to them, or would be.
  ///   - states: those of memberships; the user's own are there if one of them is `accepted`.
  ///   - kind: nil: of any kind.
  ///   - fields: nil: with any values.
  package static func list(
    of user: String, as roles: Set<StoredCollection.Role>, _ states: Set<Membership.State> = [.accepted], kind: String?,
    fields: FieldFilter? = nil,
    _ page: PageRequest, _ session: Session
  ) throws -> Page<StoredCollection> {
    try session.snapshot { session in
      let rows = try session.execute(
        Self.statements["collections"],
        [.text(user), .texts(roles.map(\.rawValue).sorted()), .text(kind), .texts(states.map(\.rawValue).sorted())]
          + page.parameters + [.text(fields?.values), .text(fields?.ranges)])
      return try Page(rows, page) { try read(of: $0, nil, session) }
    }
  }

  /// Reads a page of the collections of an author that the viewer may see without being a member, the newest first, without items.
  ///
  /// - Parameter kind: nil: of any kind.
  package static func list(
    ofAuthor author: String, kind: String?, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<StoredCollection> {
    guard !viewer.owns(author) else { return try list(of: author, as: [.author], kind: kind, page, session) }
    return try session.snapshot { session in
      let rows = try session.execute(
        Self.statements["open_collections"], [.text(author), viewer.parameter, .text(kind)] + page.parameters)
      return try Page(rows, page) { try read(of: $0, nil, session) }
    }
  }

  /// Changes a collection that the viewer edits; false if the viewer sees none with this id.
  ///
  /// - Parameter change: receives the locked collection; an error from it prevents the change.
  /// - Returns: the content that replaces the former one, its items nil if they stay, and the names of what has changed.
  /// - Throws: `OwnershipRefusal`, `ItemRefusal`, `ForgottenRefusal`. The caller must roll back.
  package static func change(
    _ id: PublicID, for viewer: Viewer, items: [CollectionItem]?, _ session: Session,
    _ change: (StoredCollection) throws -> (content: CollectionContent, keys: [String], maxItems: Int)
  ) throws -> Bool {
    try Store.requireUsers(viewer.user, in: session)
    if let items { try lockPosts(items, for: viewer, session) }
    guard let locked = try lock(id, for: viewer, session) else { return false }
    guard locked.role.mayEdit else { throw OwnershipRefusal() }
    // While it waited for the lock, another transaction may have removed the member.
    guard let collection = try find(id, for: viewer, session)?.collection else { return false }
    guard collection.role.mayEdit else { throw OwnershipRefusal() }
    let (content, keys, maxItems) = try change(collection)
    // Who else sees it is for its author to say.
    guard content.visibility == collection.content.visibility || collection.role == .author else {
      throw OwnershipRefusal()
    }
    if let items {
      let places = Parameter.texts(
        items.compactMap { item in if case .place(let id) = item.subject { id } else { nil } })
      try session.execute(Self.statements["add_places"], places)
      try session.execute(Self.statements["lock_places_of_items"], .integer(locked.number), places)
      try session.execute(Self.statements["drop_items"], .integer(locked.number), viewer.parameter)
      let hidden = zip(Int64(1)..., items).filter { $0.1.subject == .hidden }.map(\.0)
      let kept = try session.execute(
        Self.statements["move_items"], .integer(locked.number), .integer(items.count), .integers(hidden)
      ).affected
      guard hidden.count <= kept else { throw ItemRefusal.nothingHidden }
      let following = kept - hidden.count
      guard following + items.count <= maxItems else { throw ItemRefusal.tooMany(limit: maxItems - following) }
      try add(items, to: locked.number, session)
    }
    try session.execute(
      Self.statements["change_collection"], .integer(locked.number), .text(content.name),
      .text(content.visibility.rawValue), .text(JSON.text(content.fields)))
    if !keys.isEmpty { try record(.edited, in: locked.number, by: viewer.user, keys: keys, session) }
    return true
  }

  /// Deletes a collection of the viewer's for all, with its thumbnail; a member leaves it. False if the viewer sees none with this
  /// id. Call `collectReleased` after the commit.
  ///
  /// - Parameter check: receives the locked collection; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal` for a viewer who only knows the link.
  package static func delete(
    _ id: PublicID, for viewer: Viewer, _ session: Session, check: (StoredCollection) throws -> Void
  ) throws -> Bool {
    guard let seen = try find(id, for: viewer, session)?.collection else { return false }
    // The jobs are locked before what they belong to.
    if seen.role == .author { try Images.cancel(.itinerary, of: id.description, session) }
    guard let locked = try lock(id, for: viewer, session),
      let collection = try find(id, for: viewer, session)?.collection
    else { return false }
    try check(collection)
    guard locked.role == .author else {
      guard let user = viewer.user else { throw OwnershipRefusal() }
      return try remove(member: user, from: locked.number, by: user, session)
    }
    try Assets.release(
      session.execute(
        Images.statements["drop_images"], .text(ImageKind.itinerary.rawValue), .text(id.description)), session)
    try session.execute(Self.statements["drop_collection"], .integer(locked.number))
    return true
  }

  /// Locks a collection until the transaction ends; nil if the viewer sees none with this id.
  static func lock(
    _ id: PublicID, for viewer: Viewer, link: [UInt8]? = nil, _ session: Session
  ) throws -> (number: Int64, kind: String, author: String, role: StoredCollection.Role)? {
    let rows = try session.execute(
      Self.statements["lock_collection"], .text(id.description), viewer.parameter, .bytes(link))
    guard let row = rows.first else { return nil }
    return (try row.get("id"), try row.get("kind"), try row.get("author"), try row.enumValue("role"))
  }

  /// Returns what the viewer is to the collection with an id, which may be that of an itinerary of the app's; nil if there is no
  /// such collection, and a role of nil if the viewer does not see it.
  static func role(
    _ id: String, for viewer: Viewer, _ session: Session
  ) throws -> StoredCollection.Role?? {
    guard let id = PublicID(id) else { return nil }
    let rows = try session.execute(
      Self.statements["collection_role"], .text(id.description), viewer.parameter, .bytes(nil))
    guard let row = rows.first else { return nil }
    return .some(try row.get("role", as: String?.self).flatMap { StoredCollection.Role(rawValue: $0) })
  }

  /// Locks the posts among items, so that none of them is deleted until the transaction ends.
  private static func lockPosts(_ items: [CollectionItem], for viewer: Viewer, _ session: Session) throws {
    let posts = items.compactMap { item in if case .post(let id) = item.subject { id } else { nil } }
    guard !posts.isEmpty else { return }
    let found = Set(
      try session.execute(
        Self.statements["lock_items"], .texts(posts.map(\.description)), viewer.parameter
      ).map { try $0.publicID("public_id") })
    let unknown = posts.filter { !found.contains($0) }
    guard unknown.isEmpty else { throw ItemRefusal.unknownPosts(unknown) }
  }

  private static func add(_ items: [CollectionItem], to number: Int64, _ session: Session) throws {
    let shown = zip(Int64(1)..., items).filter { $0.1.subject != .hidden }
    guard !shown.isEmpty else { return }
    var (places, posts): ([String?], [String?]) = ([], [])
    for (_, item) in shown {
      switch item.subject {
      case .place(let id): (places, posts) = (places + [id], posts + [nil])
      case .post(let id): (places, posts) = (places + [nil], posts + [id.description])
      case .hidden: break
      }
    }
    try session.execute(
      Self.statements["add_items"], .integer(number), .texts(places), .texts(posts),
      .texts(shown.map { try JSON.text($0.1.fields) }), .integers(shown.map(\.0)))
  }

  static func item(_ row: Row) throws -> CollectionItem {
    guard try row.get("is_seen") else { return CollectionItem(subject: .hidden, fields: [:]) }
    let place = try row.get("place_id", as: String?.self)
    return CollectionItem(
      subject: try place.map(CollectionItem.Subject.place) ?? .post(row.publicID("post")),
      fields: try row.json("fields"))
  }

  /// Reads rows of the statements `collection` and `collections`, with their thumbnails.
  ///
  /// - Parameter items: those of the only collection; nil: they were not read.
  private static func read(
    of rows: [Row], _ items: [CollectionItem]?, _ session: Session
  ) throws -> [StoredCollection] {
    let assets = try Assets.list(
      ofSets: rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }, session)
    return try rows.map { row in
      let set = try row.get("asset_set_id", as: Int64?.self)
      let thumbnail = (set.flatMap { assets[$0] } ?? []).filter {
        $0.place == 0 && ($0.role.kind == .still || $0.role.isOfPhoto)
      }
      return StoredCollection(
        id: try row.publicID("public_id"), kind: try row.get("kind"), author: try row.get("author"),
        content: CollectionContent(
          name: try row.get("name"), visibility: try row.enumValue("visibility"), fields: try row.json("fields"),
          items: items),
        createdAt: Date(microseconds: try row.get("created_at")),
        updatedAt: Date(microseconds: try row.get("updated_at")), revision: try row.get("revision"),
        counts: CollectionCounts(
          items: try row.get("item_count"), members: try row.get("member_count"),
          comments: try row.get("comment_count")),
        role: try row.enumValue("role"),
        membership: try row.get("member_role", as: String?.self).flatMap { role in
          try Membership.Role(rawValue: role).map { Membership(role: $0, state: try row.enumValue("member_state")) }
        }, hasLink: try row.get("has_link"), isHidden: try row.get("is_hidden"),
        thumbnail: Dictionary(thumbnail.map { ($0.role, $0) }) { first, _ in first },
        isThumbnailPublic: try row.get("is_public", as: Bool?.self) ?? true)
    }
  }
}

extension Collections {
  package static let record = RecordKind(
    .collection, author: "collection.author", missing: .collectionNotFound, { "The collection \($0) does not exist." },
    lock: { collection, viewer, session in
      try collection.publicID.flatMap { try lock($0, for: viewer, session) }
        .map { RecordKind.Locked(owner: $0.author, admitsComments: $0.role.isMember) }
    },
    role: { try role($0, for: $1, $2) },
    setHidden: { collection, _, isHidden, session in
      try session.execute(statements["hide_collection"], .text(collection.id), .bool(isHidden))
    })
}
