package import Postgres

/// Something that any worker does now and then, beside its jobs.
package struct Chore: Sendable {
  let name: String
  let interval: Duration
  let body: @Sendable (Pool) async throws -> Void

  /// - Parameters:
  ///   - interval: between two turns; one that fails waits for its next turn. None keeps the others from theirs, however
  ///     long it takes.
  ///   - body: may be done by several workers at once.
  package init(_ name: String, every interval: Duration, _ body: @escaping @Sendable (Pool) async throws -> Void) {
    self.name = name
    self.interval = interval
    self.body = body
  }
}
