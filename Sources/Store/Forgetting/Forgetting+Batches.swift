import Blobs
import Model
import Platform
import Postgres
import Queue

/// The batches of a deletion. Each is one transaction of limited size, and begins with what is left: it does not matter how
/// often the job is interrupted.
extension Forgetting {
  private static let posts = 20
  private static let images = 50
  private static let rows = 1000

  /// Deletes the next batch of what mentions the user of a deletion; false if nothing is left.
  static func forgetBatch(ofJob job: PublicID, _ session: Session) throws -> Bool {
    let rows = try session.execute(Self.statements["user_of_forgetting"], .text(job.description))
    guard let user = try rows.first?.get("user_id", as: String.self) else { return false }
    let hadMore =
      try forgetPosts(of: user, session) || forgetCollections(of: user, session) || forgetImages(of: user, session)
      || forgetComments(of: user, session) || forgetTraces(of: user, session)
    if hadMore { return true }
    try forgetRest(of: user, session)
    return false
  }

  /// Deletes posts of the user with their media, and before that their comments and reactions, of which there may be many. Their
  /// jobs are cancelled.
  private static func forgetPosts(of user: String, _ session: Session) throws -> Bool {
    let posts = try publicIDs(Self.statements["posts_of_user"], .text(user), .integer(Self.posts), in: session)
    guard !posts.isEmpty else { return false }
    let ids = Self.parameter(posts)
    // The jobs before the posts.
    _ = try JobQueue.cancel(jobIDs(Self.statements["jobs_of_posts"], ids, session), session)
    let locked = Array(try session.execute(Self.statements["lock_posts"], ids))
    let comments = try session.execute(Self.statements["drop_comments_of_posts"], ids, .integer(Self.rows)).affected
    if comments == Self.rows { return true }
    let reactions = try publicIDs(Self.statements["reactions_of_posts"], ids, .integer(Self.images), in: session)
    if reactions.count == Self.images {
      try drop(images: reactions, session)
      return true
    }
    let locks = [
      Self.statements["lock_collections_of_posts"], Self.statements["lock_places_of_posts"],
      Self.statements["lock_activity_of_posts"],
    ]
    for statement in locks { try session.execute(statement, ids) }
    for row in locked { try Posts.drop(locked: row.get("id"), session) }
    return true
  }

  private static func forgetImages(of user: String, _ session: Session) throws -> Bool {
    let images = try publicIDs(Self.statements["images_of_user"], .text(user), .integer(Self.images), in: session)
    guard !images.isEmpty else { return false }
    _ = try JobQueue.cancel(jobIDs(Self.statements["jobs_of_images_among"], Self.parameter(images), session), session)
    try drop(images: images, session)
    return true
  }

  /// Deletes images with their media, and updates the counts of reactions. The caller has cancelled their jobs.
  private static func drop(images: [PublicID], _ session: Session) throws {
    let ids = Self.parameter(images)
    try session.execute(Self.statements["lock_posts_of_images"], ids)
    try session.execute(Self.statements["uncount_reactions"], ids)
    try Assets.release(session.execute(Self.statements["drop_images_among"], ids), session)
  }

  /// Deletes a collection of the user for all, with its thumbnail.
  private static func forgetCollections(of user: String, _ session: Session) throws -> Bool {
    let collections = try publicIDs(
      Self.statements["collections_of_user"], .text(user), .integer(1), in: session)
    for id in collections { _ = try Collections.delete(id, for: .unrestricted, session) { _ in } }
    return !collections.isEmpty
  }

  private static func forgetComments(of user: String, _ session: Session) throws -> Bool {
    try forget(
      Self.statements["comments_of_user"], of: user,
      by: [
        Self.statements["lock_posts_of_comments"], Self.statements["lock_collections_of_comments"],
        Self.statements["lock_places_of_comments"], Self.statements["drop_comments"],
      ], session)
  }

  private static func forgetRelations(of user: String, _ session: Session) throws -> Bool {
    try forget(
      Self.statements["relations_of_user_or_to"], of: user,
      by: [
        Self.statements["lock_posts_of_relations"], Self.statements["lock_users_of_relations"],
        Self.statements["lock_places_of_relations"], Self.statements["drop_relations_among"],
      ], session)
  }

  /// Finds records of a user, and executes statements with their numbers, which lock what counts them and then delete them.
  private static func forget(
    _ records: Statement, of user: String, by statements: [Statement], _ session: Session
  ) throws -> Bool {
    let found = try session.execute(records, .text(user), .integer(Self.rows))
    let numbers = try found.map { try $0.get("id", as: Int64.self) }
    guard !numbers.isEmpty else { return false }
    for statement in statements { try session.execute(statement, .integers(numbers)) }
    return true
  }

  /// Deletes responses and events, and removes the user from the history of jobs; false if nothing was left.
  private static func forgetTraces(of user: String, _ session: Session) throws -> Bool {
    // As the encoder writes them into the responses to submissions.
    let named = try ["author", "owner"].map { Array(try JSON.text([$0: user]).utf8.dropFirst().dropLast()) }
    let changed = try session.execute(
      Self.statements["drop_responses_to_user"], .text(user), .bytes(named[0]), .bytes(named[1]), .integer(Self.rows)
    ).affected
    guard changed == 0 else { return true }
    if try forgetRelations(of: user, session) { return true }
    let locks = [Self.statements["lock_collections_of_member"], Self.statements["lock_described_places"]]
    for statement in locks { try session.execute(statement, .text(user), .integer(Self.rows)) }
    let traces = [
      Self.statements["drop_events_of_user"],
      Self.statements["drop_memberships_of_user"], Self.statements["blank_activity_of_user"],
      Self.statements["drop_reports_of_user"], Self.statements["drop_cases_of_user"],
      Self.statements["drop_notes_of_user"], Self.statements["drop_descriptions_of_user"],
      Self.statements["blank_places"], Self.statements["blank_events_by_user"],
      Self.statements["blank_jobs"], Self.statements["blank_dead_jobs"],
      Self.statements["blank_finished_jobs"],
    ]
    for statement in traces {
      let changed = try session.execute(statement, .text(user), .integer(Self.rows)).affected
      guard changed == 0 else { return true }
    }
    return false
  }

  /// Deletes what is one row or a few, and the deletion itself: the user may come back as a new one.
  private static func forgetRest(of user: String, _ session: Session) throws {
    for statement in [Self.statements["drop_share"], Self.statements["drop_limit"]] {
      try session.execute(statement, .text("author:" + user))
    }
    try session.execute(Self.statements["drop_usage"], .text(Usage.sender(ofUser: user)))
    let last = [
      Self.statements["blank_runs"], Self.statements["drop_tickets_of_user"], Self.statements["drop_tokens_of_user"],
      Self.statements["drop_event_count"], Self.statements["drop_user"], Self.statements["drop_suspension"],
      Self.statements["note_forgotten"], Self.statements["drop_forgetting"],
    ]
    for statement in last { try session.execute(statement, .text(user)) }
  }

  /// Removes the uploads of the user of a deletion, which waits for the disk: outside of a transaction. Other machines remove theirs
  /// when they look. A file that is removed although the deletion is interrupted is one of a user who is being deleted.
  static func removeUploads(ofJob job: PublicID, _ blobs: any BlobStore, _ pool: Pool) async throws {
    let user = try await pool.run { session in
      try session.execute(Self.statements["user_of_forgetting"], .text(job.description)).first?
        .get("user_id", as: String.self)
    }
    guard let user else { return }
    try await onThread("uploads") { try blobs.uploads().removeAll(of: user) }
  }

  private static func publicIDs(
    _ statement: Statement, _ parameters: Parameter..., in session: Session
  ) throws -> [PublicID] {
    try session.execute(statement, parameters).map { try $0.publicID("public_id") }
  }

  private static func jobIDs(_ statement: Statement, _ ids: Parameter, _ session: Session) throws -> [PublicID] {
    try session.execute(statement, ids).map { try $0.publicID("job") }
  }

  private static func parameter(_ ids: [PublicID]) -> Parameter { .texts(ids.map(\.description)) }
}
