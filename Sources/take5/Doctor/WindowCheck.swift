import Kit
import Model
import Postgres
import Rooms

extension DoctorCheck {
  /// Checks that the database knows the time zone of `--window`: a service does not start with another one.
  static func window(_ subject: DoctorSubject) async throws -> [CheckResult] {
    guard let text = subject.arguments.value("--window"), let schedule = WindowSchedule(text),
      case .success(let access) = subject.database
    else { return [] }
    let isKnown = try await access.pool.run { session in try KnownTimeZones().contain(schedule.zone, session) }
    return [
      isKnown
        ? .ok("window", "zone", "the database knows the time zone \(schedule.zone)")
        : .error(
          "window", "zone", "--window: unknown time zone '\(schedule.zone)'", remedy: "use a name such as Europe/Berlin"
        )
    ]
  }
}
