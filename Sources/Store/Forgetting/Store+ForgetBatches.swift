import Blobs
import Model
import Platform
import Postgres
import Queue

/// The batches of a deletion. Each is one transaction of limited size, and begins with what is left: it does not matter how
/// often the job is interrupted.
extension Store {
  private static let posts = 20
  private static let images = 50
  private static let rows = 1000

  /// Deletes the next batch of what mentions the user of a deletion; false if nothing is left.
  func forgetBatch(ofJob job: PublicID, _ session: Session) throws -> Bool {
    let rows = try session.execute(Self.forgetting["user_of_forgetting"], .text(job.description))
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
  private func forgetPosts(of user: String, _ session: Session) throws -> Bool {
    let posts = try publicIDs(Self.forgetting["posts_of_user"], .text(user), .integer(Self.posts), in: session)
    guard !posts.isEmpty else { return false }
    let ids = Self.parameter(posts)
    // The jobs before the posts.
    _ = try JobQueue.cancel(jobIDs(Self.forgetting["jobs_of_posts"], ids, session), session)
    let locked = Array(try session.execute(Self.forgetting["lock_posts"], ids))
    let comments = try session.execute(Self.forgetting["drop_comments_of_posts"], ids, .integer(Self.rows)).affected
    if comments == Self.rows { return true }
    let reactions = try publicIDs(Self.forgetting["reactions_of_posts"], ids, .integer(Self.images), in: session)
    if reactions.count == Self.images {
      try drop(images: reactions, session)
      return true
    }
    let locks = [
      Self.forgetting["lock_collections_of_posts"], Self.forgetting["lock_places_of_posts"],
      Self.forgetting["lock_activity_of_posts"],
    ]
    for statement in locks { try session.execute(statement, ids) }
    for row in locked { try drop(lockedPost: row.get("id"), session) }
    return true
  }

  private func forgetImages(of user: String, _ session: Session) throws -> Bool {
    let images = try publicIDs(Self.forgetting["images_of_user"], .text(user), .integer(Self.images), in: session)
    guard !images.isEmpty else { return false }
    _ = try JobQueue.cancel(jobIDs(Self.forgetting["jobs_of_images_among"], Self.parameter(images), session), session)
    try drop(images: images, session)
    return true
  }

  /// Deletes images with their media, and updates the counts of reactions. The caller has cancelled their jobs.
  private func drop(images: [PublicID], _ session: Session) throws {
    let ids = Self.parameter(images)
    try session.execute(Self.forgetting["lock_posts_of_images"], ids)
    try session.execute(Self.forgetting["uncount_reactions"], ids)
    try release(session.execute(Self.forgetting["drop_images_among"], ids), session)
  }

  /// Deletes a collection of the user for all, with its thumbnail.
  private func forgetCollections(of user: String, _ session: Session) throws -> Bool {
    let collections = try publicIDs(
      Self.forgetting["collections_of_user"], .text(user), .integer(1), in: session)
    for id in collections { _ = try delete(collection: id, for: .unrestricted, session) { _ in } }
    return !collections.isEmpty
  }

  private func forgetComments(of user: String, _ session: Session) throws -> Bool {
    try forget(
      Self.forgetting["comments_of_user"], of: user,
      by: [
        Self.forgetting["lock_posts_of_comments"], Self.forgetting["lock_collections_of_comments"],
        Self.forgetting["lock_places_of_comments"], Self.forgetting["drop_comments"],
      ], session)
  }

  private func forgetRelations(of user: String, _ session: Session) throws -> Bool {
    try forget(
      Self.forgetting["relations_of_user_or_to"], of: user,
      by: [
        Self.forgetting["lock_posts_of_relations"], Self.forgetting["lock_users_of_relations"],
        Self.forgetting["lock_places_of_relations"], Self.forgetting["drop_relations_among"],
      ], session)
  }

  /// Finds records of a user, and executes statements with their numbers, which lock what counts them and then delete them.
  private func forget(
    _ records: Statement, of user: String, by statements: [Statement], _ session: Session
  ) throws -> Bool {
    let found = try session.execute(records, .text(user), .integer(Self.rows))
    let numbers = try found.map { try $0.get("id", as: Int64.self) }
    guard !numbers.isEmpty else { return false }
    for statement in statements { try session.execute(statement, .integers(numbers)) }
    return true
  }

  /// Deletes responses and events, and removes the user from the history of jobs; false if nothing was left.
  private func forgetTraces(of user: String, _ session: Session) throws -> Bool {
    // As the encoder writes them into the responses to submissions.
    let named = try ["author", "owner"].map { Array(try JSON.text([$0: user]).utf8.dropFirst().dropLast()) }
    let changed = try session.execute(
      Self.forgetting["drop_responses_to_user"], .text(user), .bytes(named[0]), .bytes(named[1]), .integer(Self.rows)
    ).affected
    guard changed == 0 else { return true }
    if try forgetRelations(of: user, session) { return true }
    let locks = [Self.forgetting["lock_collections_of_member"], Self.forgetting["lock_described_places"]]
    for statement in locks { try session.execute(statement, .text(user), .integer(Self.rows)) }
    let traces = [
      Self.forgetting["drop_events_of_user"],
      Self.forgetting["drop_memberships_of_user"], Self.forgetting["blank_activity_of_user"],
      Self.forgetting["drop_reports_of_user"], Self.forgetting["drop_cases_of_user"],
      Self.forgetting["drop_notes_of_user"], Self.forgetting["drop_descriptions_of_user"],
      Self.forgetting["blank_places"], Self.forgetting["blank_events_by_user"],
      Self.forgetting["blank_jobs"], Self.forgetting["blank_dead_jobs"],
      Self.forgetting["blank_finished_jobs"],
    ]
    for statement in traces {
      let changed = try session.execute(statement, .text(user), .integer(Self.rows)).affected
      guard changed == 0 else { return true }
    }
    return false
  }

  /// Deletes what is one row or a few, and the deletion itself: the user may come back as a new one.
  private func forgetRest(of user: String, _ session: Session) throws {
    for statement in [Self.forgetting["drop_share"], Self.forgetting["drop_limit"]] {
      try session.execute(statement, .text("author:" + user))
    }
    try session.execute(Self.forgetting["drop_usage"], .text(Self.sender(ofUser: user)))
    let last = [
      Self.forgetting["blank_runs"], Self.forgetting["drop_tickets_of_user"], Self.forgetting["drop_tokens_of_user"],
      Self.forgetting["drop_event_count"], Self.forgetting["drop_user"], Self.forgetting["drop_suspension"],
      Self.forgetting["note_forgotten"], Self.forgetting["drop_forgetting"],
    ]
    for statement in last { try session.execute(statement, .text(user)) }
  }

  /// Removes the uploads of the user of a deletion, which waits for the disk: outside of a transaction. Other machines remove theirs
  /// when they look. A file that is removed although the deletion is interrupted is one of a user who is being deleted.
  func removeUploads(ofJob job: PublicID, _ pool: Pool) async throws {
    let user = try await pool.run { session in
      try session.execute(Self.forgetting["user_of_forgetting"], .text(job.description)).first?
        .get("user_id", as: String.self)
    }
    guard let user else { return }
    try await onThread("uploads") { [blobs] in try blobs.uploads().removeAll(of: user) }
  }

  private func publicIDs(
    _ statement: Statement, _ parameters: Parameter..., in session: Session
  ) throws -> [PublicID] {
    try session.execute(statement, parameters).map { try $0.publicID("public_id") }
  }

  private func jobIDs(_ statement: Statement, _ ids: Parameter, _ session: Session) throws -> [PublicID] {
    try session.execute(statement, ids).map { try $0.publicID("job") }
  }

  private static func parameter(_ ids: [PublicID]) -> Parameter { .texts(ids.map(\.description)) }
}
