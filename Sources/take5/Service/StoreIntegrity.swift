import Blobs
import Integrity
import MediaProcess
import Platform
import Postgres
import Rooms
import Store
import Telemetry
import Worker

/// The open store of a command that reads all of it.
struct StoreIntegrity: Sendable {
  let pool: Pool
  let store: Store
  let blobs: any InspectableBlobStore

  /// Opens the store, runs `body` and closes it. Status 74 if its files cannot be read, 69 if its database cannot.
  ///
  /// - Parameters:
  ///   - isAdopting: whether a folder of blobs that is empty or has another id is accepted.
  ///   - releasedPause: the time for which content stays that nothing refers to any more.
  static func use<Result: Sendable>(
    _ arguments: Arguments, connections: Int = 1, isAdopting: Bool = false,
    releasedPause: Duration = Store.releasedPause,
    _ body: (StoreIntegrity) async throws -> Result
  ) async throws -> Result {
    do {
      return try await DatabaseAccess.use(arguments, connections: connections) { pool in
        let blobs = try await BlobOptions.open(arguments, pool, isAdopting: isAdopting)
        let store = Store(blobs: blobs, rooms: .all, releasedPause: releasedPause)
        return try await body(StoreIntegrity(pool: pool, store: store, blobs: blobs))
      }
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the store could not be read completely: \(error)", remedy: "check the permissions of the folder of blobs")
    } catch let error as PostgresError {
      throw CommandFailure(
        .unavailable, "the store could not be read completely: \(error.message)", remedy: error.remedy)
    } catch let error as SystemError {
      throw CommandFailure(.io, "the store could not be read completely: \(error)")
    }
  }
}

/// Makes damaged outputs again with a worker of its own, each with the definition that it was made with.
struct MediaRemaker: Sendable {
  let integrity: StoreIntegrity
  let media: MediaProcess.Configuration
  /// The number of posts and images that are made at the same time.
  let slots: Int

  /// Returns the outcome for each post or image.
  func remake(_ subjects: [Subject]) async throws -> [Subject: RemakeOutcome] {
    let (runs, unreadable) = try await integrity.pool.transaction { session in
      let (groups, unreadable) = try RemakeGroup.groups(of: subjects, session)
      let runs = try groups.compactMap { group in
        try Reprocessing.create(group.request, session).map { (id: $0, subjects: group.subjects) }
      }
      return (runs, unreadable)
    }
    var outcomes = unreadable.mapValues { RemakeOutcome.failed($0) }
    guard !runs.isEmpty else { return outcomes }
    try await RestartingWorker.reprocessing(
      slots: min(slots, subjects.count), media: media, pool: integrity.pool, blobs: integrity.blobs
    ) {
      for run in runs { _ = try await ReprocessMonitor(pool: integrity.pool).run(run.id) }
    }
    for run in runs {
      for subject in run.subjects { outcomes[subject] = .done }
      let failures = try await integrity.pool.run { session in
        try Reprocessing.find(run.id, session).map {
          try Reprocessing.failures(of: $0, limit: run.subjects.count, session)
        } ?? []
      }
      for failure in failures { outcomes[failure.subject] = .failed(failure.error) }
    }
    return outcomes
  }
}
