import Platform
package import Postgres
package import Telemetry

/// Whether a session listens for notifications, in the log and in a gauge: while it does not, changes are found by polling alone.
package final class ListeningSession: Sendable {
  private let role: String
  private let log: Logger
  private let metrics: Metrics
  private let isListening = Locked(false)

  /// - Parameter role: `service` or `worker`.
  package init(of role: String, _ log: Logger, _ metrics: Metrics) {
    (self.role, self.log, self.metrics) = (role, log, metrics)
  }

  package func note(_ report: Listener.Report) {
    switch report {
    case .notification: break
    case .connected:
      isListening.withLock { $0 = true }
      set(true)
    case .disconnected(let error):
      let wasListening = isListening.withLock { isListening in
        defer { isListening = false }
        return isListening
      }
      set(false)
      if wasListening { log.warning("a listening session is lost", ["session": role, "error": "\(error)"]) }
    }
  }

  private func set(_ isListening: Bool) {
    metrics.set(
      "take5_listening", "Whether the session that listens for notifications is there.", ["session": role],
      isListening ? 1 : 0)
  }
}
