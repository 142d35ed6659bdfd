package import Logging

/// Carries out long jobs of a queue, each by itself.
package protocol JobHandler: Sendable {
  /// Carries a job out and writes down how it ended, in a transaction that is fenced by the job's token.
  ///
  /// - Parameters:
  ///   - held: the job, and the wish to stop it.
  ///   - isAlone: whether the worker holds no other job of its queue.
  /// - Returns: what the worker lacks for any job of the queue; nil if it found what it needs.
  func carryOut(_ held: HeldJob, isAlone: Bool, log: Logger) async -> Outage?
}

/// Something that every job of a queue needs, and that a worker does not have just now: the queue is paused there.
package struct Outage: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
