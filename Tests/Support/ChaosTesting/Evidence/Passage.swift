package import Model

/// A committed change of a job's state or holder, as the database's own witness saw it.
package struct Passage: Sendable, Hashable {
  /// By the database's clock, in microseconds since 1970-01-01 UTC.
  package let at: Int64
  /// Changes with one number were committed together.
  package let transaction: Int64
  package let job: PublicID
  /// The states' letters in the table; nil: there is no row.
  package let from: String?
  package let to: String?
  package let tokenBefore: Int64?
  package let tokenAfter: Int64?
  package let worker: Int64?
  /// How often the job's worker was lost, after the change.
  package let lost: Int
  /// When the job may run, in microseconds since 1970-01-01 UTC.
  package let runAt: Int64

  package init(
    at: Int64, transaction: Int64, job: PublicID, from: String? = nil, to: String? = nil, tokenBefore: Int64? = nil,
    tokenAfter: Int64? = nil, worker: Int64? = nil, lost: Int = 0, runAt: Int64 = 0
  ) {
    self.at = at
    self.transaction = transaction
    self.job = job
    self.from = from
    self.to = to
    self.tokenBefore = tokenBefore
    self.tokenAfter = tokenAfter
    self.worker = worker
    self.lost = lost
    self.runAt = runAt
  }
}
