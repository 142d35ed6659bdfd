import FoundationEssentials
import HTTPClient
import Model
import Platform
import Postgres
import Take5Testing
import Testing

@Suite("Cron schedules", .tags(.process), .serialized, .timeLimit(.minutes(15)))
struct CronTests {
  @Test("of three processes, one opens the window of a due schedule, and a listener is notified")
  func window() async throws {
    let service = try await Service()
    let workers = [try await service.worker(), try await service.worker()]
    let received = Received()
    let (events, event) = AsyncStream.makeStream(of: Void.self)
    let connection = try Listener(try service.database(), channels: ["take5_windows"]) { report in
      switch report {
      case .notification(let notification): received.payloads.withLock { $0.append(notification.payload) }
      case .connected, .disconnected: break
      }
      event.yield()
    }
    let listener = try #require(connection)
    try listener.start()
    // The first event: the listener is connected.
    var reports = events.makeAsyncIterator()
    await reports.next()

    let set = try await cron(
      service, "set", "daily", "--schedule", "0 18 * * *", "--zone", "Europe/Berlin", "--kind", "window", "--json")
    #expect(set.status == 0, "\(set.errors)")
    let next = try JSON.decode(Report.self, from: Array(set.output.utf8)).next
    #expect(next.count == 3 && next == next.sorted())
    _ = try await service.count(
      "WITH due AS (UPDATE cron_entry SET next_at = clock_timestamp() RETURNING 1) SELECT count(*) FROM due")
    await reports.next()

    let window = try await service.get("/v1/window")
    #expect(window.status == 200)
    let response = try JSON.decode(Window.self, from: window.body)
    #expect(response.open && response.nextAt != nil)
    // One notification, after the commit, with the time that the API returns.
    let notified = try received.payloads.withLock(\.self).map {
      try JSON.decode(Opened.self, from: Array($0.utf8)).openedAt
    }
    #expect(notified == [response.openedAt])
    #expect(try await service.count("SELECT count(*) FROM daily_window") == 1)
    #expect(try await service.count("SELECT count(*) FROM job_done WHERE kind = 'window' AND outcome = 'a'") == 1)

    // `cron run` opens another window.
    let run = try await cron(service, "run", "daily")
    #expect(run.status == 0)
    await reports.next()
    #expect(try await service.count("SELECT count(*) FROM daily_window") == 2)
    try await onThread("listener-stop") { listener.stop() }
    for worker in workers {
      await worker.send(signal: 15)
      #expect(await worker.wait() == 0)
    }
    try await service.stop()
  }

  @Test("schedules are set, listed, paused, resumed and removed; invalid options are refused")
  func commands() async throws {
    let service = try await Service(workers: 0)
    #expect(try await cron(service, "list").output == "no cron schedules\n")
    for (arguments, message) in [
      (["--kind", "window"], "--schedule is missing"),
      (["--schedule", "0 18 * * *"], "--kind is missing"),
      (["--schedule", "0 18 * * *", "--kind", "party"], "--kind must be one of window"),
      (["--schedule", "0 25 * * *", "--kind", "window"], "in the hour '25' is not one of 0 to 23"),
      (["--schedule", "0 18 * * *", "--kind", "window", "--zone", "Mars/Olympus"], "unknown time zone 'Mars/Olympus'"),
      (
        ["--schedule", "0 18 * * *", "--kind", "window", "--arguments", "{}}"], "--arguments are not valid for a window"
      ),
    ] {
      let refused = try await cron(service, ["set", "daily"] + arguments)
      #expect(refused.status == 64 && refused.errors.contains(message), "\(refused.errors)")
    }
    for name in ["remove", "pause", "resume", "run"] {
      let refused = try await cron(service, name, "daily")
      #expect(refused.status == 66 && refused.errors.contains("cron schedule 'daily' not found"), "\(refused.errors)")
    }
    let set = try await cron(
      service, "set", "daily", "--schedule", "@daily", "--kind", "window", "--arguments", #"{"seconds": 60}"#)
    #expect(set.status == 0 && set.output.hasPrefix("daily  @daily  UTC  window  next 20"))
    #expect(try await cron(service, "pause", "daily").output == "daily is paused\n")
    #expect(try await cron(service, "list").output == "daily  @daily  UTC  window  paused\n")
    let resumed = try await cron(service, "resume", "daily", "--json")
    #expect(resumed.output == #"{"name":"daily","state":"resumed"}"# + "\n")
    #expect(try await cron(service, "list").output == set.output)
    #expect(try await cron(service, "remove", "daily").status == 0)
    #expect(try await cron(service, "list").output == "no cron schedules\n")
    try await service.stop()
  }

  private final class Received: Sendable {
    let payloads = Locked<[String]>([])
  }

  private struct Report: Decodable { let next: [Date] }

  private struct Opened: Decodable { let openedAt: Date }

  private struct Window: Decodable {
    let open: Bool
    let openedAt: Date
    let nextAt: Date?
  }

  private func cron(_ service: Service, _ arguments: String...) async throws -> Take5Command {
    try await cron(service, arguments)
  }

  private func cron(_ service: Service, _ arguments: [String]) async throws -> Take5Command {
    try await Take5Command.run(["cron"] + arguments + ["--data", service.data])
  }
}
