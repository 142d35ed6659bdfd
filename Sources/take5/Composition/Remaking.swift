import Blobs
import Integrity
import Logging
import MediaProcess
import Platform
import Postgres
import Store
import Worker

/// Makes damaged media again in this process, each by the definition that made it.
struct Remaking: Sendable {
  let integrity: StoreIntegrity
  let media: MediaProcess.Configuration
  /// Posts and images at a time.
  let slots: Int

  /// What became of each; see `Remake`.
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
    let begun = try await integrity.pool.transaction { session in
      try store.beginRun(group.request(isLocal: true), session).flatMap { try store.run($0, session) }
    }
    guard let run = begun else { return [:] }
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
