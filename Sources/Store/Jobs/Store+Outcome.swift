package import Crypto
package import Model
import Postgres
package import Queue

/// The ends of an attempt, each in one transaction that is fenced by the job's token; all throw `LeaseLost`.
extension Store {
  /// Makes a run's outputs the post's current set, and ends the job.
  ///
  /// - Parameters:
  ///   - recipe: the hash of everything that shaped the outputs: definition, library versions, plan.
  package func publish(
    _ outputs: [NewAsset], of work: PostWork, recipe: SHA256Digest, verdict: Verdict, job: ClaimedJob
  ) async throws {
    try synchronize(outputs)
    let result = try JSON.encode(verdict)
    let released = try await transaction { session in
      // First, so that an attempt which lost its lease does nothing at all.
      try JobQueue.complete(job, .accepted, result: result, session)
      let set = try insertSet(
        outputs, definition: work.definition.hash, recipe: recipe, job: job.publicID, session)
      let row = try session.execute(
        StatementFiles.post["publish"], .text(work.post.description), .integer(set)
      ).single()
      guard !work.definition.definition.keepSources else { return [] as [SHA256Digest] }
      return try dropSources(row, of: work.post, session)
    }
    _ = try? await collect(released)
  }

  /// Refuses the media: the post keeps the reasons, the sources go.
  package func reject(_ work: PostWork, verdict: Verdict, job: ClaimedJob) async throws {
    let result = try JSON.encode(verdict)
    let reasons = try JSON.text(verdict.reasons)
    let released = try await transaction { session in
      try JobQueue.complete(job, .rejected, result: result, session)
      let row = try session.execute(
        StatementFiles.post["reject"], .text(work.post.description), .text(reasons)
      ).single()
      return try dropSources(row, of: work.post, session)
    }
    // What this does not manage, the next `collectReleased` does.
    _ = try? await collect(released)
  }

  /// Gives a failed attempt another one later, or, if it was the last, the job among the dead and its post failed.
  ///
  /// - Returns: what was decided.
  @discardableResult
  package func fail(
    _ job: ClaimedJob, error: String, policy: RetryPolicy, random: Double = .random(in: 0...1)
  ) async throws -> RetryPolicy.Next {
    let next = policy.next(attempt: job.attempt, maxAttempts: job.maxAttempts, random: random)
    try await transaction { session in
      switch next {
      case .retry(let seconds):
        try JobQueue.retry(job, afterSeconds: seconds, error: error, session)
      case .bury:
        try JobQueue.bury(job, error: error, session)
        try failPosts(of: [job.publicID], session)
      }
    }
    return next
  }

  /// Ends a running job that was cancelled; its post failed.
  package func endCancelled(_ job: ClaimedJob) async throws {
    try await transaction { session in
      try JobQueue.complete(job, .cancelled, result: nil, session)
      try failPosts(of: [job.publicID], session)
    }
  }

  func failPosts(of jobs: [PublicID], _ session: Session) throws(PostgresError) {
    if jobs.isEmpty { return }
    try session.execute(StatementFiles.post["fail_by_jobs"], .texts(jobs.map(\.description)))
  }

  // The blobs are collected after the commit: a rollback must not bring back a source whose file is gone.
  private func dropSources(_ row: Row, of post: PublicID, _ session: Session) throws -> [SHA256Digest] {
    guard let set = try row.get("source_set_id", as: Int64?.self) else { return [] }
    try session.execute(StatementFiles.post["forget_sources"], .text(post.description))
    let released = try session.execute(StatementFiles.asset["drop_set"], .integer(set)).map { try $0.digest("blob") }
    try session.execute(StatementFiles.asset["delete_set"], .integer(set))
    return released
  }
}
