import Platform
import Telemetry

/// One check of `take5 doctor`. A new check is a line in `all` and a file with its function.
struct DoctorCheck: Sendable {
  let name: String
  /// Returns what the check found, in the order of the report; an error that it throws is a result too.
  let run: @Sendable (DoctorSubject) async throws -> [CheckResult]

  /// The checks in the order of the report.
  static let all = [
    DoctorCheck(name: "configuration", run: configuration), DoctorCheck(name: "programs", run: programs),
    DoctorCheck(name: "walls", run: walls), DoctorCheck(name: "database", run: database),
    DoctorCheck(name: "clock", run: clock), DoctorCheck(name: "window", run: window),
    DoctorCheck(name: "store", run: store),
    DoctorCheck(name: "disk", run: disk), DoctorCheck(name: "address", run: addresses),
    DoctorCheck(name: "access", run: access), DoctorCheck(name: "jobs", run: jobs),
    DoctorCheck(name: "push", run: push),
  ]
}

/// What `take5 doctor` examines: the options of a service, and its database.
struct DoctorSubject: Sendable {
  let arguments: Arguments
  /// What a configuration file may say.
  let keys: ConfigurationKeys
  /// The options of a service that have a value.
  let options: [Option]
  /// The open database; a failure with status 66 if there is none yet.
  let database: Result<DatabaseAccess, CommandFailure>

  /// The time for a database on another machine to respond: behind a dead link a connection that is open is silent for longer.
  private static let openTimeout = Duration.seconds(8)

  /// Opens the database as it is: creates no store and migrates nothing.
  init(_ arguments: Arguments, keys: ConfigurationKeys, options: [Option]) async {
    self.arguments = arguments
    self.keys = keys
    self.options = options
    let opened = OneShot<Result<DatabaseAccess, CommandFailure>>()
    Task { opened.fulfil(await Self.open(arguments)) }
    // An embedded server that recovers takes its time.
    let isNamed: Bool
    do { isNamed = try DatabaseAddress(arguments) != nil } catch { isNamed = false }
    if isNamed {
      Task {
        do { try await Task.sleep(for: Self.openTimeout) } catch {}
        opened.fulfil(
          .failure(
            CommandFailure(
              .unavailable, "the database has not responded within \(Self.openTimeout.components.seconds) s",
              remedy: "check the network between this machine and the database, and that PostgreSQL runs")))
      }
    }
    database = await opened.value
  }

  private static func open(_ arguments: Arguments) async -> Result<DatabaseAccess, CommandFailure> {
    do {
      return .success(
        try await DatabaseAccess.open(arguments, connections: 1, schema: .any, log: Logger(lowest: .error)))
    } catch {
      return .failure(CommandFailure(error))
    }
  }

  /// The data folder.
  var data: String { arguments.value(Option.data.name) ?? "" }

  /// Closes the database, and stops an embedded server that was started for the checks.
  func close() async { if case .success(let access) = database { await access.close() } }
}

/// One result of a check.
struct CheckResult: Encodable, Sendable, Hashable {
  enum Level: String, Encodable, Sendable {
    case ok
    /// The service works, and there is nothing to do.
    case info
    /// The service works, but not as well or as safely as it can.
    case warning
    /// The service does not start, or does not work.
    case error
  }

  let check: String
  /// The examined part, such as the name of a wall.
  let subject: String
  let level: Level
  /// The finding, in one line.
  let detail: String
  /// What to do about it; nil if there is nothing to do.
  let remedy: String?

  private init(_ check: String, _ subject: String, _ level: Level, _ detail: String, remedy: String?) {
    self.check = check
    self.subject = subject
    self.level = level
    self.detail = CommandFailure.line(detail)
    self.remedy = remedy.map(CommandFailure.line)
  }

  static func ok(_ check: String, _ subject: String, _ detail: String) -> CheckResult {
    CheckResult(check, subject, .ok, detail, remedy: nil)
  }

  static func info(_ check: String, _ subject: String, _ detail: String) -> CheckResult {
    CheckResult(check, subject, .info, detail, remedy: nil)
  }

  static func warning(_ check: String, _ subject: String, _ detail: String, remedy: String) -> CheckResult {
    CheckResult(check, subject, .warning, detail, remedy: remedy)
  }

  static func error(_ check: String, _ subject: String, _ detail: String, remedy: String) -> CheckResult {
    CheckResult(check, subject, .error, detail, remedy: remedy)
  }

  static func error(_ check: String, _ subject: String, _ failure: CommandFailure) -> CheckResult {
    .error(check, subject, failure.message ?? "failed", remedy: failure.remedy ?? "remove the cause and try again")
  }
}

/// The result of `take5 doctor`.
struct DoctorReport: Encodable, Sendable {
  /// Whether there is no error.
  let healthy: Bool
  let results: [CheckResult]

  init(_ results: [CheckResult]) {
    healthy = !results.contains { $0.level == .error }
    self.results = results
  }

  /// Runs the checks, one after the other.
  static func make(_ checks: [DoctorCheck], of subject: DoctorSubject) async throws -> DoctorReport {
    var results: [CheckResult] = []
    for check in checks {
      try Task.checkCancellation()
      do {
        results += try await check.run(subject)
      } catch {
        results.append(.error(check.name, "check", CommandFailure(error)))
      }
    }
    return DoctorReport(results)
  }

  /// Status 1 if there is an error.
  var status: ExitStatus { healthy ? .success : .inconsistent }

  /// A line for each result, one for each remedy, and a summary.
  var text: String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    let checkWidth = results.map(\.check.count).max() ?? 0
    let subjectWidth = results.map(\.subject.count).max() ?? 0
    let lines = results.flatMap { result in
      [
        "\(padded(result.level.rawValue, 7))  \(padded(result.check, checkWidth))  "
          + "\(padded(result.subject, subjectWidth))  \(result.detail)"
      ] + (result.remedy.map { ["         \($0)"] } ?? [])
    }
    let counts = [CheckResult.Level.error, .warning].compactMap { level -> String? in
      let count = results.count { $0.level == level }
      return count == 0 ? nil : "\(count) \(level.rawValue)\(count == 1 ? "" : "s")"
    }
    return (lines + [counts.isEmpty ? "no problems found" : counts.joined(separator: ", ")]).joined(separator: "\n")
  }
}
