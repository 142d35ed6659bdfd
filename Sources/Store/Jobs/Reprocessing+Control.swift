import Model
package import Postgres
import Queue

/// The control of runs.
extension Reprocessing {
  /// Pauses, resumes or cancels a run in the caller's transaction; false if the run has ended.
  ///
  /// A pause does not affect the run's executing jobs; a cancellation stops them.
  package static func change(_ run: ReprocessRun, to state: ReprocessRun.State, _ session: Session) throws -> Bool {
    let current: ReprocessRun.State =
      try session.execute(Self.statements["lock_run"], .integer(run.number)).single().enumValue("state")
    if current == state { return true }
    guard !current.isFinal else { return false }
    try session.execute(Self.statements["set_state"], .integer(run.number), .text(state.rawValue))
    if state == .running { try wake(session) }
    if state == .cancelled {
      try session.execute(Self.statements["cancel_items"], .integer(run.number))
      _ = try JobControl.cancel(jobs: startedJobs(of: run, session), session)
    }
    return true
  }

  private static func startedJobs(of run: ReprocessRun, _ session: Session) throws -> [PublicID] {
    try session.execute(Self.statements["started_jobs"], .integer(run.number)).map { try $0.publicID("job") }
  }
}
