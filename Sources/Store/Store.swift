package import Blobs
package import Postgres
import Queue

/// Posts, their media and their definitions, in PostgreSQL and a blob store.
///
/// What follows from the end of a job happens in the transaction that ends it, fenced by the job's token: a worker that
/// lost its lease gets `LeaseLost` and leaves no trace. A connection that breaks makes a transaction be tried again;
/// each is written so that it does no harm if the first did commit.
package struct Store: Sendable {
  let pool: Pool
  let blobs: any BlobStore
  let announcer: Announcer

  /// The most bytes that are kept in the database itself: reading a small picture is then one query.
  static let mostInlineBytes: Int64 = 256 << 10

  package init(pool: Pool, blobs: any BlobStore) {
    self.pool = pool
    self.blobs = blobs
    announcer = Announcer(pool)
  }

  /// Brings the schema up to what this program needs; returns the steps it took.
  @discardableResult
  package func migrate() async throws -> [Migration] {
    try await pool.run { session in
      let steps = try Migrator(StoreMigrations.all).migrate(session)
      try JobQueue.prepareHistory(session)
      return steps
    }
  }

  private static let mostTries = 3

  /// Runs a transaction, again if it was in conflict with another or its connection broke.
  func transaction<Result: Sendable>(_ body: @Sendable (Session) throws -> Result) async throws -> Result {
    var tries = 1
    while true {
      do {
        return try await pool.transaction(body)
      } catch let error as PostgresError where error.isConflict || error.isConnectionLost {
        guard tries < Self.mostTries else { throw error }
        tries += 1
      }
    }
  }
}
