import Model
import Postgres
import Queue

/// Something that an operator does to many jobs: by their ids, or to all of a filter, a batch and a transaction at a time.
struct JobSweep: Sendable {
  /// So many rows are locked at a time; workers pass between two batches.
  private static let batch = 500

  /// Does it to a batch, in the caller's transaction: which of the jobs it was done to, each with a word of what came of it.
  let change: @Sendable ([PublicID], Session) throws -> [PublicID: String]
  /// Tells others of it, once it is committed.
  let announce: @Sendable ([PublicID: String], Session) throws -> Void

  /// Does it to jobs by their ids.
  func run(_ ids: [PublicID], _ pool: Pool) async throws -> [PublicID: String] {
    var changed: [PublicID: String] = [:]
    var rest = ids[...]
    while !rest.isEmpty {
      changed.merge(try await change(Array(rest.prefix(Self.batch)), pool)) { first, _ in first }
      rest = rest.dropFirst(Self.batch)
    }
    return changed
  }

  /// Does it to the newest `most` jobs of a filter; how many it was done to.
  ///
  /// - Parameter progress: told after each batch how many jobs were looked at.
  func run(
    _ filter: JobFilter, most: Int, _ pool: Pool, progress: (Int) -> Void
  ) async throws -> Int {
    var filter = filter
    var (looked, changed) = (0, 0)
    while looked < most {
      filter.limit = min(Self.batch, most - looked)
      let ids = try await pool.run { [filter] session in try JobQueue.list(filter, session).map(\.publicID) }
      guard let last = ids.last else { break }
      changed += try await change(ids, pool).count
      looked += ids.count
      progress(looked)
      // Whatever becomes of them, and whatever is queued meanwhile: the next batch is older.
      filter.before = last
    }
    return changed
  }

  private func change(_ ids: [PublicID], _ pool: Pool) async throws -> [PublicID: String] {
    var attempt = 1
    while true {
      do {
        return try await pool.transaction { session in
          let changed = try change(ids, session)
          if !changed.isEmpty { try announce(changed, session) }
          return changed
        }
      } catch let error as PostgresError where error.isConflict && attempt < 5 {
        attempt += 1
      }
    }
  }
}
