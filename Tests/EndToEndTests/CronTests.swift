import FoundationEssentials
import HTTPClient
import Model
import Platform
import Postgres
import Take5Testing
import Testing

@Suite("By the calendar", .tags(.process), .serialized, .timeLimit(.minutes(5)))
struct CronTests {
  @Test("three processes share an entry that is due: the window opens once, and whoever listens hears of it")
  func window() async throws {
    let service = try await Service()
    let workers = [try await service.worker(), try await service.worker()]
    let heard = Heard()
    let (news, event) = AsyncStream.makeStream(of: Void.self)
    let ear = try Listener(try service.database(), channels: ["take5_windows"]) { report in
      switch report {
      case .notification(let notification): heard.payloads.withLock { $0.append(notification.payload) }
      case .connected, .disconnected: break
      }
      event.yield()
    }
    let listener = try #require(ear)
    try listener.start()
    // It listens.
    var reports = news.makeAsyncIterator()
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
    let answer = try JSON.decode(Window.self, from: window.body)
    #expect(answer.open && answer.nextAt != nil)
    // It is told after the commit, once, with the times that are answered.
    let told = try heard.payloads.withLock(\.self).map { try JSON.decode(Opened.self, from: Array($0.utf8)).openedAt }
    #expect(told == [answer.openedAt])
    #expect(try await service.count("SELECT count(*) FROM daily_window") == 1)
    #expect(try await service.count("SELECT count(*) FROM job_done WHERE kind = 'window' AND outcome = 'a'") == 1)

    // By hand once more, and the times stay.
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

  @Test("entries are set, shown, paused, resumed and removed; what is wrong is told")
  func commands() async throws {
    let service = try await Service(workers: 0)
    #expect(try await cron(service, "list").output == "no entry yet\n")
    for (words, complaint) in [
      (["--kind", "window"], "--schedule is missing"),
      (["--schedule", "0 18 * * *"], "--kind is missing"),
      (["--schedule", "0 18 * * *", "--kind", "party"], "--kind is one of window"),
      (["--schedule", "0 25 * * *", "--kind", "window"], "in the hour '25' is not one of 0 to 23"),
      (["--schedule", "0 18 * * *", "--kind", "window", "--zone", "Mars/Olympus"], "no time zone 'Mars/Olympus'"),
      (["--schedule", "0 18 * * *", "--kind", "window", "--arguments", "{}}"], "a window has no such arguments"),
    ] {
      let refused = try await cron(service, ["set", "daily"] + words)
      #expect(refused.status == 64 && refused.errors.contains(complaint), "\(refused.errors)")
    }
    for verb in ["remove", "pause", "resume", "run"] {
      let refused = try await cron(service, verb, "daily")
      #expect(refused.status == 66 && refused.errors.contains("there is no entry 'daily'"), "\(refused.errors)")
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
    #expect(try await cron(service, "list").output == "no entry yet\n")
    try await service.stop()
  }

  private final class Heard: Sendable {
    let payloads = Locked<[String]>([])
  }

  private struct Report: Decodable { let next: [Date] }

  private struct Opened: Decodable { let openedAt: Date }

  private struct Window: Decodable {
    let open: Bool
    let openedAt: Date
    let nextAt: Date?
  }

  private func cron(_ service: Service, _ words: String...) async throws -> Take5Command {
    try await cron(service, words)
  }

  private func cron(_ service: Service, _ words: [String]) async throws -> Take5Command {
    try await Take5Command.run(["cron"] + words + ["--data", service.data])
  }
}
