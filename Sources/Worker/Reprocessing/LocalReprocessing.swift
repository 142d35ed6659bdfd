package import Blobs
package import Logging
package import MediaProcess
import Model
package import Platform
package import Postgres
import QueueWorker
package import Store

/// Carries out a local run in this process: its items one after the other, in as many media processes as there are slots.
package struct LocalReprocessing: Sendable {
  private static let maxInterruptions = 3

  private let slots: [MediaSlot]
  private let pool: Pool
  private let store: Store
  private let blobs: any BlobStore
  private let log: Logger

  /// - Parameters:
  ///   - slots: items at a time; one for each core is the fastest in sum.
  ///   - pool: with as many connections.
  package init(
    slots: Int, media: MediaProcess.Configuration, pool: Pool, store: Store, blobs: any BlobStore, log: Logger
  ) throws {
    self.slots = try (1...slots).map { number in try MediaSlot(name: "local-\(number)", configuration: media) }
    self.pool = pool
    self.store = store
    self.blobs = blobs
    self.log = log
  }

  /// Works until no item waits, the run is paused or cancelled, or `stop` is raised; what was begun then waits again.
  package func run(_ run: ReprocessRun, until stop: CancellationFlag) async throws {
    try await pool.run { [store] session in try store.resume(local: run, session) }
    // Each attempt hashes and writes files: those calls block.
    let executor = try ThreadExecutor(name: "local-run", threads: slots.count)
    defer { executor.stop() }
    let pace = Pace(rate: run.rate)
    let outcome: Result<Void, any Error>
    do {
      try await withThrowingTaskGroup { group in
        for slot in slots {
          group.addTask(executorPreference: executor) { try await self.work(run, slot, pace, stop) }
        }
        try await group.waitForAll()
      }
      try await pool.run { [store] session in try store.complete(local: run, session) }
      try await pool.transaction { [store] session in try store.collectReleased(session) }
      outcome = .success(())
    } catch {
      stop.cancel()
      outcome = .failure(error)
    }
    for slot in slots { await slot.stop() }
    try outcome.get()
  }

  private func work(_ run: ReprocessRun, _ slot: MediaSlot, _ pace: Pace, _ stop: CancellationFlag) async throws {
    while !stop.isCancelled {
      try await pace.wait()
      guard let item = try await persist({ session in try store.takeItem(of: run, session) }) else { return }
      try await carryOut(item, slot, stop)
    }
  }

  private func carryOut(_ item: LocalItem, _ slot: MediaSlot, _ stop: CancellationFlag) async throws {
    let began = ContinuousClock.now
    let work: Work
    do {
      guard let found = try await pool.run({ [store] session in try store.work(for: item, session) }) else { return }
      work = found
    } catch let error as StoreError {
      return try await end(item, .failed("\(error)"))
    }
    let attempt = Attempt(
      control: LocalControl(cancellation: stop), slot: slot, mode: .throughput, isIsolated: false, blobs: blobs,
      log: log)
    var ending = await attempt.run(work)
    // Somebody who ends media processes ends them all, or soon has enough.
    for _ in 0..<Self.maxInterruptions {
      guard case .interrupted = ending else { break }
      ending = await attempt.run(work)
    }
    // A process that broke once may have been unlucky.
    if case .broken = ending {
      await slot.renew()
      ending = await attempt.run(work)
    }
    switch ending {
    case .accepted(_, let outputs, let recipe):
      let seconds = began.duration(to: .now) / .seconds(1)
      do {
        try await persist { session in
          try session.transaction { session in
            try store.replace(outputs, of: work, recipe: recipe, job: item.job, seconds: seconds, session)
          }
        }
      } catch let error as StoreError {
        try await end(item, .failed("\(error)"))
      }
    case .unchanged: try await end(item, .skipped)
    case .rejected(let verdict): try await end(item, .failed(verdict.reasonText))
    case .broken(let failure, _, _): try await end(item, .failed(failure.description))
    case .damaged(let error, _): try await end(item, .failed(error.description))
    case .failed(let error): try await end(item, .failed(error))
    case .superseded(let ending): try await end(item, ending)
    case .stopped, .crowded: try await end(item, .requeued)
    // The run can be resumed: nothing is laid to its items.
    case .interrupted(let failure):
      try await end(item, .requeued)
      throw Outage(failure.description)
    case .unable(let outage):
      try await end(item, .requeued)
      throw outage
    }
  }

  private func end(_ item: LocalItem, _ ending: Store.ItemEnding) async throws {
    try await persist { session in
      let ended = try session.transaction { session in try store.end(itemOf: item.job, ending, session) }
      if case .failed(let error) = ending, ended {
        log.warning("an item failed", ["subject": "\(item.subject)", "error": error])
      }
    }
  }

  /// A database that is away for a moment ends nothing.
  private func persist<Result: Sendable>(_ body: @Sendable (Session) throws -> Result) async throws -> Result {
    var attempt = 1
    while true {
      do {
        return try await pool.run(timeout: .seconds(30), body)
      } catch let error as PostgresError where error.isTransient && attempt < 10 {
        attempt += 1
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }
}
