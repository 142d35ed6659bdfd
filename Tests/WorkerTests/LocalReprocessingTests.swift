import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import QueueWorker
import Store
import Testing

@testable import Worker

@Suite("Local reprocessing", .tags(.database), .timeLimit(.minutes(15)))
struct LocalReprocessingTests {
  /// The items of a run: the number that wait, and the number with each outcome.
  private struct Items: Equatable {
    var waiting = 0
    var outcomes: [String: Int] = [:]
  }

  /// Publishes posts, and starts a local run over them.
  private func run(
    _ fixture: WorkerFixture, posts: Int = 1, isForced: Bool = true, rate: Double? = nil
  ) async throws -> ReprocessRun {
    for number in 0..<posts {
      try await fixture.submit(photos: ["photo \(number)"])
      try await fixture.attempt(FakeMedia())
    }
    let id = try await fixture.reprocess(isLocal: true, isForced: isForced, rate: rate)
    let run = try await fixture.pool.run { [store = fixture.store] session in try store.run(id, session) }
    return try #require(run)
  }

  private func local(_ fixture: WorkerFixture, _ media: FakeMedia...) -> LocalReprocessing {
    LocalReprocessing(
      slots: media, pool: fixture.pool, store: fixture.store, blobs: fixture.blobs, log: WorkerFixture.log,
      clock: fixture.clock)
  }

  private func items(_ fixture: WorkerFixture) async throws -> Items {
    try await fixture.pool.run { session in
      var items = Items()
      let rows = try session.execute("SELECT outcome, job IS NULL AS waits FROM reprocess_item")
      for row in rows {
        if let outcome = try row.get("outcome", as: String?.self) { items.outcomes[outcome, default: 0] += 1 }
        if try row.get("outcome", as: String?.self) == nil, try row.get("waits", as: Bool.self) { items.waiting += 1 }
      }
      return items
    }
  }

  private func state(_ run: ReprocessRun, _ fixture: WorkerFixture) async throws -> ReprocessRun.State? {
    try await fixture.pool.run { [store = fixture.store] session in try store.run(run.id, session)?.state }
  }

  private func failing(_ kind: MediaFailure.Kind, times: Int = .max) -> FakeMedia {
    let count = Shared(0)
    return FakeMedia { () async throws(MediaFailure) in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number <= times { throw MediaFailure(kind, "by the test") }
    }
  }

  @Test("all items are made again, and the run completes")
  func completes() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture, posts: 3)
      let media = FakeMedia()
      try await local(fixture, media).run(run, until: CancellationFlag())
      #expect(try await items(fixture) == Items(outcomes: ["done": 3]))
      #expect(try await state(run, fixture) == .completed)
      #expect(media.requests.withLock { $0 } == ["photo", "photo", "photo"])
    }
  }

  @Test("an item whose outputs have the recipe already is skipped, and one whose media are rejected fails")
  func skipped() async throws {
    try await WorkerFixture.with { fixture in
      try await local(fixture, FakeMedia()).run(try await run(fixture, isForced: false), until: CancellationFlag())
      #expect(try await items(fixture) == Items(outcomes: ["skipped": 1]))
    }
    try await WorkerFixture.with { fixture in
      let media = FakeMedia(reason: Reason(.corruptImage, input: nil, detail: "broken"))
      try await local(fixture, media).run(try await run(fixture), until: CancellationFlag())
      #expect(try await items(fixture) == Items(outcomes: ["failed": 1]))
    }
  }

  @Test("an item whose definition is for other media than its sources fails, and the run completes")
  func otherMedia() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture)
      _ = try await fixture.submitMoment()
      try await fixture.pool.run {
        _ = try $0.execute(
          "UPDATE reprocess_item SET definition = (SELECT hash FROM definition WHERE name = 'take5-post')")
      }
      let media = FakeMedia()
      try await local(fixture, media).run(run, until: CancellationFlag())
      #expect(try await items(fixture) == Items(outcomes: ["failed": 1]))
      #expect(try await state(run, fixture) == .completed)
      #expect(media.requests.withLock { $0.isEmpty })
    }
  }

  @Test("after a crash the item is tried once more, and the second quarantines its media")
  func crashes() async throws {
    for (times, outcome) in [(1, "done"), (2, "failed")] {
      try await WorkerFixture.with { fixture in
        let media = failing(.crashed, times: times)
        try await local(fixture, media).run(try await run(fixture), until: CancellationFlag())
        #expect(try await items(fixture) == Items(outcomes: [outcome: 1]))
        #expect(media.requests.withLock { $0 } == ["photo", "photo"])
        #expect(try await fixture.quarantined().count == times - 1)
      }
    }
  }

  @Test("an item is tried again after three interruptions; after a fourth it waits, and the run ends with the outage")
  func interruptions() async throws {
    try await WorkerFixture.with { fixture in
      let media = failing(.interrupted, times: 3)
      try await local(fixture, media).run(try await run(fixture), until: CancellationFlag())
      #expect(try await items(fixture) == Items(outcomes: ["done": 1]))
      #expect(media.requests.withLock { $0.count { $0 == "photo" } } == 4)
    }
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture)
      await #expect(throws: Outage.self) {
        try await local(fixture, failing(.interrupted)).run(run, until: CancellationFlag())
      }
      #expect(try await items(fixture) == Items(waiting: 1))
      #expect(try await state(run, fixture) == .running)
    }
  }

  @Test("an outage ends the run with its error; the item of another slot waits again, and no further item starts")
  func outage() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture, posts: 4)
      let (stop, hasStarted) = (CancellationFlag(), CancellationFlag())
      let busy = FakeMedia { () async throws(MediaFailure) in
        hasStarted.cancel()
        await until { stop.isCancelled }
        throw MediaFailure(.cancelled, "")
      }
      let full = FakeMedia { () async throws(MediaFailure) in
        await until { hasStarted.isCancelled }
        throw MediaFailure(.outOfSpace, "no room")
      }
      await #expect(throws: Outage.self) { try await local(fixture, busy, full).run(run, until: stop) }
      #expect(try await items(fixture) == Items(waiting: 4))
      #expect(busy.requests.withLock { $0 } == ["photo"])
      #expect(full.requests.withLock { $0 } == ["photo"])
    }
  }

  @Test("a stop lets the executing item wait again, and starts no further one")
  func stopped() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture, posts: 2)
      let stop = CancellationFlag()
      let media = FakeMedia { () async throws(MediaFailure) in
        stop.cancel()
        throw MediaFailure(.cancelled, "")
      }
      try await local(fixture, media).run(run, until: stop)
      #expect(try await items(fixture) == Items(waiting: 2))
      #expect(media.requests.withLock { $0 } == ["photo"])
      #expect(try await state(run, fixture) == .running)
    }
  }

  @Test("the items of a process that ended before it completed them are processed")
  func resumed() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture)
      _ = try await fixture.pool.run { [store = fixture.store] session in try store.claimItem(of: run, session) }
      try await local(fixture, FakeMedia()).run(run, until: CancellationFlag())
      #expect(try await items(fixture) == Items(outcomes: ["done": 1]))
    }
  }

  @Test("an outcome is written once the database accepts writes again")
  func databaseAway() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture)
      let url = fixture.url
      let media = FakeMedia { () async throws(MediaFailure) in
        do { try setReadOnly(true, url) } catch { throw MediaFailure(.internal, "\(error)") }
      }
      async let running: Void = local(fixture, media).run(run, until: CancellationFlag())
      await fixture.clock.sleepers(for: .milliseconds(200))
      try setReadOnly(false, url)
      fixture.clock.advance(by: .milliseconds(200))
      try await running
      #expect(try await items(fixture) == Items(outcomes: ["done": 1]))
    }
  }

  @Test("items start at the rate of the run")
  func rate() async throws {
    try await WorkerFixture.with { fixture in
      let run = try await run(fixture, posts: 2, rate: 0.5)
      let media = FakeMedia()
      async let running: Void = local(fixture, media).run(run, until: CancellationFlag())
      await fixture.clock.sleepers(for: .seconds(2))
      #expect(media.requests.withLock { $0 } == ["photo"])
      fixture.clock.advance(by: .seconds(2))
      // The wait before the look at the queue that finds no further item.
      await fixture.clock.sleepers(for: .seconds(2))
      fixture.clock.advance(by: .seconds(2))
      try await running
      #expect(try await items(fixture) == Items(outcomes: ["done": 2]))
    }
  }
}
