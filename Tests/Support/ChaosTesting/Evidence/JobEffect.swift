package import Model

/// What an attempt wrote in the transaction that ended its job.
package struct JobEffect: Sendable, Hashable {
  package let job: PublicID
  package let token: Int64

  package init(_ job: PublicID, token: Int64) {
    self.job = job
    self.token = token
  }
}
