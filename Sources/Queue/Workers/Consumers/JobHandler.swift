package import Telemetry

/// Handles the jobs of one queue.
package protocol JobHandler: Sendable {
  /// Performs a job and stores its outcome, in a transaction that is fenced by the job's token.
  ///
  /// - Parameters:
  ///   - held: the job, its progress, and the request to stop it.
  ///   - isAlone: whether the worker holds no other job of this queue.
  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth

  /// Whether further jobs may start while others run.
  var takesMore: Bool { get }
}

extension JobHandler {
  package var takesMore: Bool { true }
}

/// What an attempt shows of the worker's ability to serve the queue.
package enum ServiceHealth: Sendable, Hashable {
  /// The attempt had everything that it needs.
  case healthy
  /// The worker lacks something that every job of the queue needs.
  case outage(Outage)
  /// The attempt ended before it could show anything.
  case unknown
}

/// The absence of something that every job of a queue needs, such as room in the storage.
package struct Outage: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
