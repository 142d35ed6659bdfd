import Postgres
import Store

extension DoctorCheck {
  /// Compares the clock of this machine with the clock of the database: signed URLs expire by the one, and schedules fire by
  /// the other.
  static func clock(_ subject: DoctorSubject) async throws -> [CheckResult] {
    // Without a database there is a result of the database.
    guard case .success(let access) = subject.database else { return [] }
    let offset = try await access.pool.run { session in try ClockOffset(session) }
    return [clock(offset)]
  }

  static func clock(_ offset: ClockOffset) -> CheckResult {
    let rounded = "\((abs(offset.seconds) * 10).rounded() / 10) s"
    guard offset.isWrong else {
      return .ok("clock", "database", "this machine and the database differ by \(rounded)")
    }
    return .warning(
      "clock", "database", "this machine is \(rounded) \(offset.seconds > 0 ? "ahead of" : "behind") the database",
      remedy: "let chrony or systemd-timesyncd set the clocks of both machines")
  }
}
