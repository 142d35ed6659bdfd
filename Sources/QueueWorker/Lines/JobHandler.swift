package import Logging

/// Carries out long jobs of a queue, each by itself.
package protocol JobHandler: Sendable {
  /// Carries a job out and writes down how it ended, in a transaction that is fenced by the job's token.
  ///
  /// - Parameters:
  ///   - held: the job, and the wish to stop it.
  ///   - isAlone: whether the worker holds no other job of its queue.
  func carryOut(_ held: HeldJob, isAlone: Bool, log: Logger) async
}
