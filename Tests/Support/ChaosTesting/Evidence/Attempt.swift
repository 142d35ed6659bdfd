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
    Dictionary(grouping: passages, by: \.job).mapValues { passages in
      var attempts: [Attempt] = []
      var running: Passage?
      for (place, passage) in passages.enumerated() {
        if let claim = running, let token = claim.tokenAfter, passage.tokenBefore == token {
          running = nil
          attempts.append(
            Attempt(
              job: passage.job, token: token, worker: claim.worker ?? 0, claimedAt: claim.at, endedAt: passage.at,
              ending: ending(claim, where: passages[place...].filter { $0.transaction == passage.transaction }, fates)))
        }
        if passage.tokenAfter != nil {
          // A claim over a claim that never ended: both stand, and the check of overlaps tells.
          if let claim = running { attempts.append(unended(claim)) }
          running = passage
        }
      }
      return attempts + (running.map { [unended($0)] } ?? [])
    }
  }

  private static func unended(_ claim: Passage) -> Attempt {
    Attempt(
      job: claim.job, token: claim.tokenAfter ?? 0, worker: claim.worker ?? 0, claimedAt: claim.at, endedAt: nil,
      ending: nil)
  }

  // A member of a group leaves it, and may be a row of its own again by the end of the transaction.
  private static func ending(_ claim: Passage, where ends: [Passage], _ fates: [PublicID: JobFate]) -> Ending {
    if let back = ends.last(where: { $0.to != nil }) {
      return back.lost > claim.lost ? .taken(runAt: back.runAt) : .itself
    }
    guard let fate = fates[claim.job], fate.lost > claim.lost else { return .itself }
    return .buried
  }
}
