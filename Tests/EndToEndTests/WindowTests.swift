import FoundationEssentials
import Glibc
import HTTPClient
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("The daily window", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct WindowTests {
  private static let schedule = "18:00-18:05 Europe/Berlin"

  @Test("of four processes, one opens the window when it is due, and a listener is notified")
  func window() async throws {
    let service = try await Service(["--window", Self.schedule])
    let received = Locked<[String]>([])
    let (events, event) = AsyncStream.makeStream(of: Void.self)
    let connection = try Listener(try service.database(), channels: ["take5_windows"]) { report in
      if case .notification(let notification) = report { received.withLock { $0.append(notification.payload) } }
      event.yield()
    }
    let listener = try #require(connection)
    try listener.start()
    // The first event: the listener is connected.
    var reports = events.makeAsyncIterator()
    await reports.next()

    try await service.execute(
      """
      INSERT INTO window_schedule (schedule, next_at, seconds) VALUES ('\(Self.schedule)', clock_timestamp(), 300)
      ON CONFLICT (is_only) DO UPDATE SET next_at = excluded.next_at
      """)
    var workers: [RunningTake5] = []
    for _ in 0..<3 { workers.append(try await service.worker(["--window", Self.schedule])) }
    await reports.next()

    let window = try await service.get("/v1/window")
    #expect(window.status == 200)
    let response = try JSON.decode(Window.self, from: window.body)
    #expect(response.open)
    for worker in workers {
      #expect(await worker.waitForLog("worker started"))
      await worker.send(signal: SIGTERM)
      #expect(await worker.wait() == 0)
    }
    // One notification, after the commit, with the time that the API returns.
    let notified = try received.withLock(\.self).map { try JSON.decode(Opened.self, from: Array($0.utf8)).openedAt }
    #expect(notified == [response.openedAt])
    #expect(try await service.count("SELECT count(*) FROM daily_window") == 1)
    try await onThread("listener-stop") { listener.stop() }
    try await service.stop()
  }

  @Test("a worker refuses a time zone that does not exist, and without a schedule reports the store's")
  func schedules() async throws {
    let service = try await Service(workers: 0)
    for (schedule, message) in [
      ("18:00-18:05 Mars/Olympus", "unknown time zone 'Mars/Olympus'"), ("0 18 * * *", "--window must be times"),
    ] {
      let refused = try await Take5Command.run(["worker", "--data", service.data, "--window", schedule])
      #expect(refused.status == 64 && refused.errors.contains(message), "\(refused.errors)")
    }
    try await service.execute(
      "INSERT INTO window_schedule (schedule, next_at, seconds) VALUES ('\(Self.schedule)', clock_timestamp(), 300)")
    let worker = try await service.worker()
    #expect(await worker.waitForLog("worker started"))
    #expect(worker.log.contains("without --window") && worker.log.contains(Self.schedule), "\(worker.log)")
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    #expect(try await service.count("SELECT count(*) FROM daily_window") == 0)
    try await service.stop()
  }

  @Test("operators show, set, preview and clear the schedule while services run, and no command prints the next time")
  func commands() async throws {
    let service = try await Service(workers: 0, ["--window", Self.schedule])
    func take5(_ arguments: String...) async throws -> Take5Command {
      try await Take5Command.run(["window"] + arguments + ["--data", service.data])
    }
    #expect(try await take5().output.contains("has no schedule"))
    let text = "mon-fri,sat,sun 5m in 00:00-00:00 Europe/Berlin"
    let set = try await take5("set", text)
    #expect(set.status == 0 && set.output.contains("'\(text)', which was set"), "\(set)")
    let times = try await service.texts(
      "SELECT to_char(next_at AT TIME ZONE z, 'HH24:MI:SS') FROM window_schedule, unnest('{UTC,Europe/Berlin}'::text[]) AS z"
    )
    let preview = try await take5("preview")
    #expect(
      preview.status == 0 && preview.output.contains("T00:00:00, ") && preview.output.contains("0.07 %"), "\(preview)")
    let fixed = try await take5("preview", "mon 18:00-18:05 UTC", "--json")
    #expect(fixed.status == 0 && fixed.output.contains(#""per_minute":null"#), "\(fixed)")
    for invalid in ["18:00", "18:00-18:05 Mars/Olympus"] {
      for command in ["set", "preview"] {
        let refused = try await take5(command, invalid)
        #expect(refused.status == 64 && refused.errors.contains(invalid), "\(refused)")
      }
    }
    // Another worker has another option: what was set counts.
    let worker = try await service.worker(["--window", "19:00-19:05 UTC"])
    #expect(await worker.waitForLog("worker started"))
    #expect(worker.log.contains("not by --window"), "\(worker.log)")
    try await service.execute("UPDATE window_schedule SET next_at = clock_timestamp()")
    try await until { try await service.count("SELECT count(*) FROM daily_window") == 1 }
    let shown = try await take5()
    #expect(shown.output.contains("Z, open") && shown.output.contains(text), "\(shown)")
    let json = try await take5("--json")
    #expect(json.output.contains(#""source":"operator","windows":[{"closes_at""#), "\(json)")
    let later = try await service.texts(
      "SELECT to_char(next_at AT TIME ZONE z, 'HH24:MI:SS') FROM window_schedule, unnest('{UTC,Europe/Berlin}'::text[]) AS z"
    )
    let outputs = [set, preview, shown, json].map { $0.output + $0.errors }.joined() + worker.log + service.process.log
    for time in times + later { #expect(!outputs.contains(time), "\(time)") }
    let cleared = try await take5("clear")
    #expect(cleared.status == 0 && cleared.output.contains("has no schedule"), "\(cleared)")
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }

  private struct Opened: Decodable { let openedAt: Date }

  private struct Window: Decodable {
    let open: Bool
    let openedAt: Date
  }
}
