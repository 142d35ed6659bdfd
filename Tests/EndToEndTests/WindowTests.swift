import FoundationEssentials
import Glibc
import HTTPClient
import Model
import Platform
import Postgres
import Take5Testing
import Testing

@Suite("The daily window", .tags(.process), .serialized, .timeLimit(.minutes(15)))
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

  @Test("a worker refuses a time zone that does not exist, and without a schedule reports that of the store")
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

  private struct Opened: Decodable { let openedAt: Date }

  private struct Window: Decodable {
    let open: Bool
    let openedAt: Date
  }
}
