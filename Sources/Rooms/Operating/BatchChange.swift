package import Model
package import Postgres
package import Queue
internal import Store

/// A change of many jobs, selected by ids or by a filter, in batches with a transaction each.
package struct BatchChange: Sendable {
  /// The maximum number of rows that a batch locks; workers proceed between two batches.
  private static let batchSize = 500

  /// The states of the jobs that can be changed, and those that a filter without states means.
  package let states: Set<JobState>
  package let standard: Set<JobState>
  /// Changes a batch in the caller's transaction; returns the changed jobs, each with its queue or its new state.
  private let change: @Sendable ([PublicID], Session) throws -> [PublicID: String]
  /// Sends the notifications of a batch, which PostgreSQL delivers at commit.
  private let announce: @Sendable ([PublicID: String], Session) throws -> Void

  /// Retries dead jobs and jobs that wait for their next attempt; the changed jobs have their queues.
  package static let retry = BatchChange(states: [.dead, .scheduled], standard: [.dead]) { ids, session in
    try JobControl.retry(jobs: ids, session)
  } announce: { queues, session in
    for queue in Set(queues.values).sorted() { try JobQueue.notify(queue: queue, session) }
    try JobQueue.notifyChange(of: queues.keys.sorted(), session)
  }

  /// Cancels jobs that have not finished; the changed jobs have their states, `cancelled` or `cancelling`.
  package static let cancel = BatchChange(states: live, standard: live) { ids, session in
    try JobControl.cancel(jobs: ids, session).mapValues { $0 == .cancelled ? "cancelled" : "cancelling" }
  } announce: { outcomes, session in
    try JobQueue.notifyChange(of: outcomes.keys.sorted(), session)
  }

  private static let live: Set<JobState> = [.scheduled, .available, .executing]

  private init(
    states: Set<JobState>, standard: Set<JobState>,
    change: @escaping @Sendable ([PublicID], Session) throws -> [PublicID: String],
    announce: @escaping @Sendable ([PublicID: String], Session) throws -> Void
  ) {
    self.states = states
    self.standard = standard
    self.change = change
    self.announce = announce
  }

  /// Changes jobs by id.
  package func run(_ ids: [PublicID], _ pool: Pool) async throws -> [PublicID: String] {
    var changed: [PublicID: String] = [:]
    var rest = ids[...]
    while !rest.isEmpty {
      changed.merge(try await change(Array(rest.prefix(Self.batchSize)), pool)) { first, _ in first }
      rest = rest.dropFirst(Self.batchSize)
    }
    return changed
  }

  /// Changes the newest `max` jobs of a filter; returns the number of changed jobs.
  ///
  /// - Parameter progress: receives the number of processed jobs after each batch.
  package func run(
    _ filter: JobFilter, max: Int, _ pool: Pool, progress: (Int) -> Void = { _ in }
  ) async throws -> Int {
    var filter = filter
    var (processed, changed) = (0, 0)
    while processed < max {
      filter.limit = min(Self.batchSize, max - processed)
      let ids = try await pool.run { [filter] session in try JobQueue.list(filter, session).map(\.publicID) }
      guard let last = ids.last else { break }
      changed += try await change(ids, pool).count
      processed += ids.count
      progress(processed)
      // The next batch is older, whatever state these jobs have now and whatever was enqueued meanwhile.
      filter.before = last
    }
    return changed
  }

  private func change(_ ids: [PublicID], _ pool: Pool) async throws -> [PublicID: String] {
    try await pool.transaction { session in
      let changed = try change(ids, session)
      if !changed.isEmpty { try announce(changed, session) }
      return changed
    }
  }
}
