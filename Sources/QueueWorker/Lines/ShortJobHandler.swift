package import Postgres
package import Queue

/// Carries out short jobs of a queue, one after the other on a connection of the worker's.
package protocol ShortJobHandler: Sendable {
  /// Carries a job out; what it writes with `session` is committed together with its end, or not at all.
  ///
  /// It blocks its thread, which is the connection's own. If it throws, the job is tried again later, until its attempts
  /// are used up.
  func carryOut(_ job: ClaimedJob, _ session: Session) throws -> MemberEnding

  /// Tells whoever waits for them of jobs that completed, after the commit; if it fails, nobody is told.
  func tell(of jobs: [ClaimedJob], _ session: Session) throws
}

extension ShortJobHandler {
  package func tell(of jobs: [ClaimedJob], _ session: Session) {}
}
