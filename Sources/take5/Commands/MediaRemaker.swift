import Integrity
import MediaProcess
import Postgres
import Store
import Worker

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
