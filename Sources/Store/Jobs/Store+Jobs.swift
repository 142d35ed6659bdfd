package import Postgres
package import Queue

/// The work of jobs, by their kinds.
extension Store {
  /// Reads the work of a job; nil if the job belongs to an item of a run that has an outcome already.
  package func work(for job: ClaimedJob, _ session: Session) throws -> Work? {
    guard let kind = JobKinds.media.first(where: { $0.kind == job.kind }) else {
      throw StoreError.unknownKind(job.kind, job.publicID)
    }
    return try kind.init(of: job).work(for: job, in: self, session)
  }

  /// Does what a job that needs no media process, or its next batch, waits for before its transaction.
  package func prepare(_ job: ClaimedJob, _ pool: Pool) async throws {
    try await task(of: job).prepare(job, in: self, pool)
  }

  /// Performs a job that needs no media process, or its next batch, in the transaction of the caller's that completes it or
  /// gives it back.
  @discardableResult
  package func perform(_ job: ClaimedJob, _ session: Session) throws -> TaskStep {
    try task(of: job).perform(job, in: self, session)
  }

  private func task(of job: ClaimedJob) throws(StoreError) -> any TaskJob {
    guard let kind = JobKinds.tasks.first(where: { $0.kind == job.kind }) else {
      throw StoreError.unknownKind(job.kind, job.publicID)
    }
    return try kind.init(of: job)
  }
}

extension Work {
  /// The deadline of one attempt; longer for reprocessing, which runs in the background, and short for a first look, which others wait
  /// behind.
  package func deadline(_ seconds: Int) -> Duration {
    if look != nil { return .seconds(min(seconds, LookJob.deadlineSeconds)) }
    return .seconds(reprocessing == nil ? seconds : max(seconds, ReprocessJob.deadlineSeconds))
  }
}
