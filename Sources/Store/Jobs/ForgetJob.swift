package import Postgres
package import Queue

/// The arguments of a job that deletes a user: none, so that the history of jobs does not name the user.
package struct ForgetJob: TaskJob {
  package static let kind = "forget"
  /// A deletion that fails is tried again for hours.
  static let attempts = 100
  /// Of one batch.
  static let deadlineSeconds = 600

  /// Removes the uploads of the user.
  package func prepare(_ job: ClaimedJob, in store: Store, _ pool: Pool) async throws {
    try await Forgetting.removeUploads(ofJob: job.publicID, store.blobs, pool)
  }

  /// Deletes the next batch of what mentions the user.
  package func perform(_ job: ClaimedJob, in store: Store, _ session: Session) throws -> TaskStep {
    try Forgetting.forgetBatch(ofJob: job.publicID, in: store.rooms, session) ? .batch : .last
  }
}
