import Blobs
import Integrity
import Logging
import MediaProcess
import Platform
import Postgres
import Store
import Worker

/// The open store of a command that reads all of it.
struct StoreIntegrity: Sendable {
  let pool: Pool
  let store: Store
  let blobs: any InspectableBlobStore

  /// Opens the store, runs `body` and closes it. Status 74 if its files cannot be read, 69 if its database cannot.
  ///
  /// - Parameter isAdopting: whether a folder of blobs that is empty or has another id is accepted.
  static func use<Result: Sendable>(
    _ arguments: Arguments, connections: Int = 1, isAdopting: Bool = false,
    _ body: (StoreIntegrity) async throws -> Result
  ) async throws -> Result {
    do {
      return try await DatabaseAccess.use(arguments, connections: connections) { pool in
        let blobs = try await BlobOptions.open(arguments, pool, isAdopting: isAdopting)
        return try await body(StoreIntegrity(pool: pool, store: Store(blobs: blobs), blobs: blobs))
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

/// Makes damaged outputs again in this process, each with the definition that it was made with.
struct MediaRemaker: Sendable {
  let integrity: StoreIntegrity
  let media: MediaProcess.Configuration
  /// The number of posts and images that are made at the same time.
  let slots: Int

  /// Returns the outcome for each post or image.
  func remake(_ subjects: [Subject]) async throws -> [Subject: RemakeOutcome] {
    let (groups, unreadable) = try await integrity.pool.run { session in
      try RemakeGroup.groups(of: subjects, session)
    }
    var outcomes = unreadable.mapValues { RemakeOutcome.failed($0) }
    for group in groups { outcomes.merge(try await remake(group)) { first, _ in first } }
    return outcomes
  }

  private func remake(_ group: RemakeGroup) async throws -> [Subject: RemakeOutcome] {
    let store = integrity.store
    let started = try await integrity.pool.transaction { session in
      try store.createRun(group.request(isLocal: true), session).flatMap { try store.run($0, session) }
    }
    guard let run = started else { return [:] }
    let local = try LocalReprocessing(
      slots: min(slots, group.subjects.count), media: media, pool: integrity.pool, store: store,
      blobs: integrity.blobs, log: Logger(lowest: .error))
    try await local.run(run, until: CancellationFlag())
    let failures = try await integrity.pool.run { session in
      try store.failures(of: run, limit: group.subjects.count, session)
    }
    var outcomes = Dictionary(group.subjects.map { ($0, RemakeOutcome.done) }) { first, _ in first }
    for failure in failures { outcomes[failure.subject] = .failed(failure.error) }
    return outcomes
  }
}
