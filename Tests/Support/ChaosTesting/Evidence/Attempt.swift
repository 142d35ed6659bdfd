package import Model

/// An attempt from its claim until the job was no longer its own, by the database's clock.
package struct Attempt: Sendable, Hashable {
  /// How it lost its authority.
  package enum Ending: Sendable, Hashable {
    /// It ended the job, or gave it back, itself.
    case itself
    /// The job was taken from it, and may run again at that time.
    case taken(runAt: Int64)
    /// The job was taken from it, and gets no further attempt.
    case buried
  }

  package let job: PublicID
  package let token: Int64
  package let worker: Int64
  /// In microseconds since 1970-01-01 UTC.
  package let claimedAt: Int64
  /// Nil while it lasts.
  package let endedAt: Int64?
  package let ending: Ending?

  /// All attempts at jobs, each job's in their order.
  ///
  /// - Parameter fates: tell what became of a job whose row went.
  package static func all(_ passages: [Passage], fates: [PublicID: JobFate]) -> [PublicID: [Attempt]] {
    var attempts: [PublicID: [Attempt]] = [:]
    var running: [PublicID: Passage] = [:]
    for passage in passages {
      if let claim = running[passage.job], let token = claim.tokenAfter, passage.tokenBefore == token {
        running[passage.job] = nil
        attempts[passage.job, default: []].append(
          Attempt(
            job: passage.job, token: token, worker: claim.worker ?? 0, claimedAt: claim.at, endedAt: passage.at,
            ending: ending(claim, passage, fates[passage.job])))
      }
      if passage.tokenAfter != nil {
        // A claim over a claim that never ended: both stand, and the check of overlaps tells.
        if let claim = running[passage.job] { attempts[passage.job, default: []].append(unended(claim)) }
        running[passage.job] = passage
      }
    }
    for claim in running.values { attempts[claim.job, default: []].append(unended(claim)) }
    return attempts
  }

  private static func unended(_ claim: Passage) -> Attempt {
    Attempt(
      job: claim.job, token: claim.tokenAfter ?? 0, worker: claim.worker ?? 0, claimedAt: claim.at, endedAt: nil,
      ending: nil)
  }

  private static func ending(_ claim: Passage, _ end: Passage, _ fate: JobFate?) -> Ending {
    if end.to != nil { return end.lost > claim.lost ? .taken(runAt: end.runAt) : .itself }
    guard let fate, fate.lost > claim.lost else { return .itself }
    return .buried
  }
}
