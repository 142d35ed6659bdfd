package import Blobs
import CStoreSQL
import Crypto
import FoundationEssentials
package import Model
package import Platform
package import Postgres
import Queue

/// The core of the store: submissions, outputs, the publication of blobs, and all that rooms share. A capability of the app is a
/// `Room`.
///
/// Each function runs on a connection's thread, and writes inside the caller's transaction. Changes that belong
/// together are one function, so that they are one transaction.
package struct Store: Sendable {
  package static let statements = Statements(
    topic: "store", StoreSQL.Fragments, StoreSQL.Store, fragments: PostColumn.fragments)

  /// The channel of the notification that a user has an event; the payload is the user.
  package static let eventChannel = "take5_events"

  let blobs: any BlobStore
  package let rooms: [any Room.Type]
  let authorConcurrency: Int?
  let keepRejected: Duration
  let releasedPause: Duration
  let minFree: Int64

  /// The default time for which the sources of rejected media are kept.
  package static let keepRejected = Duration.seconds(7 * 24 * 3600)

  /// The default time for which content stays that nothing refers to any more.
  package static let releasedPause = Duration.seconds(3600)

  /// - Parameters:
  ///   - rooms: all rooms.
  ///   - authorConcurrency: the largest number of jobs of one author that execute at a time; nil: no limit.
  ///   - keepRejected: the time for which the sources of rejected media are kept; zero: they are removed with the rejection.
  ///   - releasedPause: the time for which content stays that nothing refers to any more; zero: it is removed at once.
  ///   - minFree: the minimum free space in bytes: near it, content does not stay for that time.
  package init(
    blobs: any BlobStore, rooms: [any Room.Type], authorConcurrency: Int? = nil,
    keepRejected: Duration = Store.keepRejected, releasedPause: Duration = Store.releasedPause, minFree: Int64 = 0
  ) {
    self.blobs = blobs
    self.rooms = rooms
    self.authorConcurrency = authorConcurrency
    self.keepRejected = keepRejected
    self.releasedPause = releasedPause
    self.minFree = minFree
  }

  /// Stores an event of a user and notifies the streams of that user, in the transaction that causes it; does nothing if the user is the one who caused it.
  ///
  /// It is the last change of a transaction, or one of the last: the count of the user's events stays locked until the
  /// commit. Several users are notified in the order of their ids, by their bytes.
  ///
  /// - Parameters:
  ///   - actor: the user who caused it; nil: the service did.
  ///   - subject: what it is about besides a post, such as a comment.
  ///   - data: a JSON object with what else the kind has; values are texts.
  package static func notify(
    _ user: String, of kind: UserEvent.Kind, by actor: String?, post: PublicID? = nil, subject: PublicID? = nil,
    data: [UInt8]? = nil, _ session: Session
  ) throws(PostgresError) {
    let inserted = try session.execute(
      Self.statements["insert_event"], .text(user), .text(kind.rawValue), .text(actor), .text(post?.description),
      .text(subject?.description), .text(data.map { String(decoding: $0, as: UTF8.self) }))
    guard !inserted.isEmpty else { return }
    try session.executeAfterCommit(Self.statements["notify_user"], .text(Self.eventChannel), .text(user))
  }

  /// Stores a definition, unless it is stored.
  static func insert(_ definition: StoredDefinition, _ session: Session) throws(PostgresError) {
    try session.execute(
      Self.statements["insert_definition"], .bytes(definition.hash.bytes), .text(definition.name),
      .integer(definition.version), .text(String(decoding: definition.body, as: UTF8.self)))
  }

  /// Decides whether users whose birth dates are unknown see posts from an age on.
  package static func setAgeRule(admitsUnknown: Bool, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["set_age_rule"], .bool(admitsUnknown))
  }

  /// Whether a user is being deleted, and whether one is suspended.
  package static func standing(of user: String, _ session: Session) throws(PostgresError) -> (
    isForgotten: Bool, isSuspended: Bool
  ) {
    let row = try session.execute(Self.statements["refusal_of_user"], .text(user)).single()
    return (try row.get("is_forgotten"), try row.get("is_suspended"))
  }

  /// Throws if one of the users is being deleted, or is suspended. Until the transaction ends, no deletion of them starts.
  ///
  /// Every function that stores something for a user calls it first.
  ///
  /// - Parameter allowingSuspended: whether something may be stored about a suspended user, which others do.
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`, after which the caller must roll back.
  package static func requireUsers(_ users: String?..., allowingSuspended: Bool = false, in session: Session) throws {
    for user in users.compactMap(\.self) {
      try session.execute(Self.statements["lock_user_shared"], .text(user))
      // A statement of its own: it sees what was committed while the lock was waited for.
      let standing = try standing(of: user, session)
      if standing.isForgotten { throw ForgottenRefusal(user: user) }
      if standing.isSuspended, !allowingSuspended { throw SuspendedRefusal(user: user) }
    }
  }
}

extension Store {
  /// The fragments of SQL that rooms share.
  package static let fragments: EmbeddedText = StoreSQL.Fragments

  /// Its tables in the baseline of the schema, which come before the tables of the rooms.
  package static let schema: [EmbeddedText] = [
    StoreSQL.Blobs_schema, StoreSQL.Assets_schema, StoreSQL.Posts_schema,
    StoreSQL.Reprocessing_schema, StoreSQL.Quarantine_schema,
    StoreSQL.Uploads_schema, StoreSQL.Forgetting_schema, StoreSQL.Suspension_schema, StoreSQL.Events_schema,
  ]

  /// Later changes of them.
  package static let migrations = [
    Migration(version: 147, name: "left_out", StoreSQL.v0147_left_out),
    Migration(version: 148, name: "unused", StoreSQL.v0148_unused),
    Migration(version: 158, name: "fields", StoreSQL.v0158_fields),
    Migration(version: 162, name: "look", StoreSQL.v0162_look),
    Migration(version: 180, name: "detached_posts", StoreSQL.v0180_detached_posts),
    Migration(version: 181, name: "released_at", StoreSQL.v0181_released_at),
    Migration(version: 186, name: "loudness", StoreSQL.v0186_loudness),
    Migration(version: 187, name: "ended_runs", StoreSQL.v0187_ended_runs),
  ]
}
