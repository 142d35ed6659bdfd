import Model

/// An attempt, from its claim until it lost its authority, by the database's clock.
struct Attempt: Sendable, Hashable {
  /// The way in which an attempt lost its authority.
  enum Ending: Sendable, Hashable {
    /// The attempt ended or released the job.
    case own
    /// The job was reaped and may run again at this time.
    case reaped(runAt: Int64)
    /// The job was reaped and gets no further attempt.
    case buried
  }

  let job: PublicID
  let token: Int64
  let worker: Int64
  /// The time of the claim, in microseconds since 1970-01-01 UTC.
  let claimedAt: Int64
  /// The time of the end, in microseconds since 1970-01-01 UTC; nil if the attempt has not ended.
  let endedAt: Int64?
  let ending: Ending?

  /// Returns all attempts by job, those of one job in order.
  ///
  /// - Parameter outcomes: the outcomes of jobs whose rows were removed.
  static func all(_ transitions: [Transition], outcomes: [PublicID: JobOutcome]) -> [PublicID: [Attempt]] {
    Dictionary(grouping: transitions, by: \.job).mapValues { transitions in
      var attempts: [Attempt] = []
      var running: Transition?
      for (index, transition) in transitions.enumerated() {
        if let claim = running, let token = claim.tokenAfter, transition.tokenBefore == token {
          running = nil
          attempts.append(
            Attempt(
              job: transition.job, token: token, worker: claim.worker ?? 0, claimedAt: claim.at, endedAt: transition.at,
              ending: ending(
                claim, where: transitions[index...].filter { $0.transaction == transition.transaction }, outcomes)))
        }
        if transition.tokenAfter != nil {
          // A claim during an attempt that has not ended: both are returned, and the check of overlaps reports them.
          if let claim = running { attempts.append(unended(claim)) }
          running = transition
        }
      }
      return attempts + (running.map { [unended($0)] } ?? [])
    }
  }

  private static func unended(_ claim: Transition) -> Attempt {
    Attempt(
      job: claim.job, token: claim.tokenAfter ?? 0, worker: claim.worker ?? 0, claimedAt: claim.at, endedAt: nil,
      ending: nil)
  }

  // A job may leave a state and be a row again by the end of the transaction.
  private static func ending(_ claim: Transition, where ends: [Transition], _ outcomes: [PublicID: JobOutcome])
    -> Ending
  {
    if let last = ends.last(where: { $0.to != nil }) {
      return last.lost > claim.lost ? .reaped(runAt: last.runAt) : .own
    }
    guard let outcome = outcomes[claim.job], outcome.lost > claim.lost else { return .own }
    return .buried
  }
}

/// A committed change of a job's state or token, as recorded by a trigger.
struct Transition: Sendable, Hashable {
  /// The time by the database's clock, in microseconds since 1970-01-01 UTC.
  let at: Int64
  /// The id of the transaction.
  let transaction: Int64
  let job: PublicID
  /// The state before and after, as in the table; nil: no row.
  var from: String?
  var to: String?
  var tokenBefore: Int64?
  var tokenAfter: Int64?
  var worker: Int64?
  /// The number of lost workers of the job, after the change.
  var lost = 0
  /// The time at which the job may run, in microseconds since 1970-01-01 UTC.
  var runAt: Int64 = 0
}
