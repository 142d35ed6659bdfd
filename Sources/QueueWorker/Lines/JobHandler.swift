package import Logging

/// Carries out long jobs of a queue, each by itself.
package protocol JobHandler: Sendable {
  /// Carries a job out and writes down how it ended, in a transaction that is fenced by the job's token.
  ///
  /// - Parameters:
  ///   - held: the job, and the wish to stop it.
  ///   - isAlone: whether the worker holds no other job of its queue.
  func carryOut(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceFinding

  /// Whether further jobs may be begun beside those that are at work.
  var takesMore: Bool { get }
}

extension JobHandler {
  package var takesMore: Bool { true }
}

/// What an attempt tells of whether the worker can serve the queue.
package enum ServiceFinding: Sendable, Hashable {
  /// It found all that it needs.
  case served
  /// It lacks what any job of the queue needs.
  case outage(Outage)
  /// It did not come so far.
  case unknown
}

/// Something that every job of a queue needs, and that a worker does not have just now: the queue is paused there.
package struct Outage: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
