import Platform
import Postgres
import Telemetry

/// The thresholds of the warnings about dead rows.
package struct VacuumLimits: Sendable, Hashable {
  /// The pause between two checks.
  package var interval = Duration.seconds(60)
  /// The longest time that a transaction may be open.
  package var oldestTransaction = Duration.seconds(300)
  /// The number of transactions for which a slot or a standby may hold back the removal of dead rows.
  package var maxTransactions = 1_000_000
  /// The dead rows for each live row...
  package var maxDeadPerLive = 10.0
  /// ... once a table has this many.
  package var minDead = 50_000
  /// The pause between two warnings of one cause.
  package var silence = Duration.seconds(300)

  package init() {}
}

/// Warns of whatever keeps the server from removing dead rows, which slow claims down.
final class VacuumMonitor: Sendable {
  /// A warning about one cause.
  struct Warning: Hashable {
    let cause: String
    let message: String
    let fields: [String: String]
  }

  private let limits: VacuumLimits
  private let log: Logger
  private let warned = Locked<[String: ContinuousClock.Instant]>([:])

  init(limits: VacuumLimits, log: Logger) {
    self.limits = limits
    self.log = log
  }

  var task: MaintenanceTask {
    MaintenanceTask("vacuum", every: limits.interval) { pool in
      self.warn(of: try await pool.transaction { session in try JobQueue.health(session) }, at: .now)
    }
  }

  /// Logs the warnings whose causes were not logged lately.
  func warn(of health: QueueHealth, at time: ContinuousClock.Instant) {
    for warning in Self.warnings(of: health, limits) {
      let isDue = warned.withLock { warned in
        warned = warned.filter { $0.value.duration(to: time) < limits.silence }
        guard warned[warning.cause] == nil else { return false }
        warned[warning.cause] = time
        return true
      }
      guard isDue else { continue }
      log.warning(
        warning.message,
        [
          "cause": warning.cause, "pid": warning.fields["pid"], "name": warning.fields["name"],
          "application": warning.fields["application"], "state": warning.fields["state"],
          "seconds": warning.fields["seconds"], "transactions": warning.fields["transactions"],
          "table": warning.fields["table"], "live": warning.fields["live"], "dead": warning.fields["dead"],
          "remedy": warning.fields["remedy"],
        ])
    }
  }

  /// The warnings that a health report calls for.
  static func warnings(of health: QueueHealth, _ limits: VacuumLimits) -> [Warning] {
    health.holders.compactMap { warning(of: $0, limits) } + health.tables.compactMap { warning(of: $0, limits) }
  }

  private static func warning(of holder: HorizonHolder, _ limits: VacuumLimits) -> Warning? {
    let isOld =
      holder.seconds.map { $0 > limits.oldestTransaction / .seconds(1) }
      ?? (holder.transactions > limits.maxTransactions)
    guard isOld else { return nil }
    var fields = ["transactions": "\(holder.transactions)", "state": holder.state]
    fields[holder.kind == .session || holder.kind == .standby ? "pid" : "name"] = holder.name
    if !holder.application.isEmpty { fields["application"] = holder.application }
    if let seconds = holder.seconds { fields["seconds"] = "\(Int(seconds))" }
    let message: String
    switch holder.kind {
    case .session:
      message = "an open transaction keeps dead rows from being removed"
      fields["remedy"] =
        "end it, if need be with SELECT pg_terminate_backend(\(holder.name)); idle_in_transaction_session_timeout ends the next"
    case .prepared:
      message = "a prepared transaction keeps dead rows from being removed"
      fields["remedy"] = "COMMIT PREPARED or ROLLBACK PREPARED '\(holder.name.replacing("'", with: "''"))'"
    case .slot:
      message = "a replication slot keeps dead rows from being removed"
      fields["remedy"] =
        "let its consumer go on, or SELECT pg_drop_replication_slot('\(holder.name.replacing("'", with: "''"))')"
    case .standby:
      message = "a standby keeps dead rows from being removed"
      fields["remedy"] = "end the long query there, or turn hot_standby_feedback off"
    }
    return Warning(cause: "\(holder.kind.rawValue) \(holder.name)", message: message, fields: fields)
  }

  private static func warning(of rows: TableRows, _ limits: VacuumLimits) -> Warning? {
    guard rows.dead >= limits.minDead, Double(rows.dead) > limits.maxDeadPerLive * Double(rows.live) else {
      return nil
    }
    return Warning(
      cause: "table \(rows.table)", message: "a table of the queue is mostly dead rows",
      fields: [
        "table": rows.table, "live": "\(rows.live)", "dead": "\(rows.dead)",
        "remedy": "see that autovacuum runs and that no old transaction is open, then VACUUM \(rows.table)",
      ])
  }
}
