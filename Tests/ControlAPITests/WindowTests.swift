import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import Queue
import Store
import Testing

@testable import ControlAPI

@Suite("Daily window", .tags(.database, .network), .timeLimit(.minutes(15)))
struct WindowTests {
  @Test("the window is returned before the first one, while open and after it closed, with the time of the next one")
  func window() async throws {
    try await RunningAPI.with { api in
      let none = try await api.get("/v1/window")
      #expect(none.status == 200)
      #expect(
        String(decoding: none.body, as: UTF8.self)
          == #"{"closes_at":null,"next_at":null,"open":false,"opened_at":null}"#)

      let next = try await api.pool.run { [store = api.store] session in
        try JobQueue.set(
          cron: CronEntry(
            name: "daily", schedule: "0 18 * * *", zone: "Europe/Berlin", queue: JobKinds.taskQueue,
            kind: WindowJob.kind), session)
        _ = try JobQueue.run(cron: "daily", session)
        let worker = try JobQueue.register(host: "here", process: 1, session)
        let job = try #require(try JobQueue.claim(worker: worker, queue: JobKinds.taskQueue, limit: 1, session).first)
        try store.perform(job, session)
        return try JobQueue.nextFiring(ofKind: WindowJob.kind, session)
      }
      let open = try await api.get("/v1/window")
      #expect(open.json["open"] == .boolean(true))
      #expect(open.json["next_at"].text == next.map(JSON.text(of:)))
      let times = ["opened_at", "closes_at"].compactMap { open.json[$0].text.flatMap(JSON.date(from:)) }
      #expect(times.count == 2 && times[1].timeIntervalSince(times[0]) == 300)
      #expect(open.headers["cache-control"] == "no-store")

      try await api.pool.run { session in
        _ = try session.execute("UPDATE daily_window SET closes_at = opened_at + interval '1 microsecond'")
      }
      #expect(try await api.get("/v1/window").json["open"] == .boolean(false))
      #expect(try await api.get("/v1/window?when=now").status == 400)
    }
  }

  @Test("reading the window needs the scope read")
  func scope() async throws {
    try await RunningAPI.with { api in
      for (key, scope, status) in [("k1", Scope.read, 200), ("k2", .submit, 403)] {
        _ = try await api.createKey(key, [scope])
        #expect(try await api.get("/v1/window", headers: [("Authorization", "Bearer \(key)")]).status == status)
      }
      #expect(try await api.get("/v1/window").status == 401)
    }
  }
}
