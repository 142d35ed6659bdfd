/// What the controller does to a process, or to what it depends on.
package enum FaultKind: String, Sendable, Hashable, CaseIterable {
  /// SIGKILL.
  case kill
  /// SIGSTOP for longer than a lease, then SIGCONT.
  case freeze
  /// `pg_terminate_backend` of its connections.
  case terminate
  /// Its connections carry nothing for longer than a lease, and nobody closes them.
  case halfOpen = "half-open"
  /// Immediate shutdown of PostgreSQL, and a new start.
  case crash
  /// Its connections are closed.
  case cut
  /// SIGTERM: it is asked to end.
  case drain
}
