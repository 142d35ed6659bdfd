import Glibc
import Postgres
import Store

extension DoctorCheck {
  /// Compares the clock of this machine with that of the database: signed URLs expire by the one, and schedules fire by
  /// the other.
  static func clock(_ subject: DoctorSubject) async throws -> [CheckResult] {
    // Without a database there is a result of the database.
    guard case .success(let access) = subject.database else { return [] }
    let (seconds, error) = try await access.pool.run { session in
      try DatabaseFacts.clockDifference(session) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
      }
    }
    return [clock(ahead: seconds, error: error)]
  }

  /// The difference that is tolerated, in seconds.
  private static let tolerance = 2.0

  /// - Parameters:
  ///   - seconds: by which this machine is ahead.
  ///   - error: of the measurement, at most half of the time that the question took.
  static func clock(ahead seconds: Double, error: Double) -> CheckResult {
    let rounded = "\((abs(seconds) * 10).rounded() / 10) s"
    guard abs(seconds) - error > tolerance else {
      return .ok("clock", "database", "this machine and the database differ by \(rounded)")
    }
    return .warning(
      "clock", "database", "this machine is \(rounded) \(seconds > 0 ? "ahead of" : "behind") the database",
      remedy: "let chrony or systemd-timesyncd set the clocks of both machines")
  }
}
