import Blobs
import Glibc
import MediaProcess
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import QueueWorker
import Store
import Testing

@testable import Worker

@Suite("Attribution of crashes", .tags(.database), .timeLimit(.minutes(15)))
struct AttributionTests {
  /// How the runs of the clips end, in the order of the runs; nil: accepted.
  private static func media(_ failures: MediaFailure.Kind?...) -> FakeMedia {
    let rest = Shared(failures)
    return FakeMedia { () async throws(MediaFailure) in
      let failure = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let failure { throw MediaFailure(failure, "by the test") }
    }
  }

  /// Quarantines a moment, whose attribution waits then.
  private func quarantine(
    _ fixture: WorkerFixture, front: String = "front", back: String = "back", by kind: MediaFailure.Kind = .crashed
  ) async throws {
    let post = try await fixture.submitMoment(front: front, back: back)
    for _ in 0..<2 { try await fixture.attempt(Self.media(kind)) }
    #expect(try await fixture.post(post).status == .rejected)
    #expect(try await fixture.quarantined().map(\.kind) == [.moment])
  }

  private func roles(_ fixture: WorkerFixture) async throws -> Set<Role> {
    Set(try await fixture.quarantined().flatMap { $0.inputs.map(\.role) })
  }

  private func attributions(_ fixture: WorkerFixture) async throws -> [JobState: Int] {
    let ids = try await fixture.pool.run { session in
      try session.execute(
        """
        SELECT public_id FROM job WHERE kind = 'attribution' UNION ALL
        SELECT public_id FROM job_done WHERE kind = 'attribution'
        """
      ).map { try $0.get("public_id", as: String.self) }
    }
    var states: [JobState: Int] = [:]
    for id in ids { states[try await fixture.job(try #require(PublicID(id))).state, default: 0] += 1 }
    return states
  }

  @Test(
    "a clip that ends a media process without the other is quarantined by itself",
    arguments: [MediaFailure.Kind.crashed, .memoryLimitExceeded, .deadlineExceeded])
  func oneClip(kind: MediaFailure.Kind) async throws {
    for (failures, role) in [([kind, nil], Role.sourceFront), ([nil, kind], .sourceBack)] {
      try await WorkerFixture.with { fixture in
        try await quarantine(fixture)
        let media = Self.media(failures[0], failures[1])
        #expect(try await fixture.attempt(media) == .healthy)
        #expect(media.requests.withLock { $0 } == ["probe", "run throughput", "probe", "run throughput"])
        #expect(media.inputs.withLock { $0 } == [[.front], [.back]])
        #expect(try await fixture.quarantined().map(\.kind) == [.clip])
        #expect(try await roles(fixture) == [role])
        #expect(try await attributions(fixture) == [.completed: 1])
        #expect(fixture.metrics.text().contains(#"take5_quarantined_total{code="decoder_crashed",kind="post"} 1"#))
        #expect(fixture.metrics.text().contains(#"_crashed",kind="attribution"} 1"#) == (kind == .crashed))
        // The files that the runs wrote are gone; the clips of the rejected moment are kept for a while.
        let files = try await fixture.pool.run { try $0.execute("SELECT FROM blob").count }
        #expect(files == 2)
      }
    }
  }

  @Test("both clips are quarantined if each ends a media process; if neither does, or is refused, the moment is")
  func bothOrNeither() async throws {
    for (media, kinds) in [
      (Self.media(.crashed, .memoryLimitExceeded), [QuarantinedMedia.Kind.clip, .clip]),
      (Self.media(), [.moment]),
      (Self.media(.protocolViolation, .internal), [.moment]),
      (FakeMedia(reason: Reason(.corruptVideo, input: nil, detail: "broken")), [.moment]),
      (FakeMedia(reason: Reason(.corruptVideo, input: nil, detail: "broken"), rejectsInProbe: true), [.moment]),
    ] {
      try await WorkerFixture.with { fixture in
        try await quarantine(fixture)
        #expect(try await fixture.attempt(media) == .healthy)
        #expect(try await fixture.quarantined().map(\.kind) == kinds)
        #expect(try await attributions(fixture) == [.completed: 1])
      }
    }
  }

  @Test("a process that another one ends shows nothing: the clips run again, and what they do then counts")
  func interrupted() async throws {
    for kind in [MediaFailure.Kind.interrupted, .outOfSpace, .unavailable] {
      try await WorkerFixture.with { fixture in
        try await quarantine(fixture)
        for failures in [[.crashed, kind], [kind, .crashed]] {
          try await fixture.attempt(Self.media(failures[0], failures[1]))
          #expect(try await fixture.quarantined().map(\.kind) == [.moment])
          #expect(try await attributions(fixture) == [.scheduled: 1])
        }
        try await fixture.attempt(Self.media(nil, .crashed))
        #expect(try await roles(fixture) == [.sourceBack])
      }
    }
  }

  @Test("a worker that drains releases the job, also if the process crashes as it is stopped")
  func drained() async throws {
    try await WorkerFixture.with { fixture in
      try await quarantine(fixture)
      let held = try await fixture.claim()
      let media = FakeMedia { () async throws(MediaFailure) in
        held.stop(.drained)
        throw MediaFailure(.crashed, "by the test")
      }
      _ = await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log)
      #expect(media.inputs.withLock { $0 } == [[.front]])
      #expect(try await attributions(fixture) == [.available: 1])
      #expect(try await fixture.quarantined().map(\.kind) == [.moment])
    }
  }

  @Test("a worker that is lost leaves the moment in quarantine, and the job to another worker")
  func lostWorker() async throws {
    try await WorkerFixture.with { fixture in
      try await quarantine(fixture)
      _ = try await fixture.claim()
      try await fixture.reap()
      #expect(try await fixture.quarantined().map(\.kind) == [.moment])
      try await fixture.attempt(Self.media(.crashed))
      #expect(try await roles(fixture) == [.sourceFront])
    }
  }

  @Test("a clip whose file is damaged in the storage is not quarantined for it")
  func damaged() async throws {
    try await WorkerFixture.with { fixture in
      try await quarantine(fixture)
      let media = try await fixture.quarantined()
      let path = fixture.blobs.location(of: try #require(media.first?.inputs.first?.hash))
      try #require(chmod(path, 0o600) == 0)
      let file = try #require(fopen(path, "r+"))
      fputs("FRONT", file)
      fclose(file)
      try await fixture.attempt(Self.media(.crashed))
      #expect(try await fixture.quarantined().map(\.kind) == [.moment])
    }
  }

  @Test("a moment that was released meanwhile needs no attribution")
  func released() async throws {
    try await WorkerFixture.with { fixture in
      try await quarantine(fixture)
      let quarantined = try await fixture.quarantined()
      _ = try await fixture.pool.transaction { [store = fixture.store] in
        try store.release(try #require(quarantined.first), $0)
      }
      let media = FakeMedia()
      try await fixture.attempt(media)
      #expect(media.requests.withLock { $0.isEmpty })
      #expect(try await attributions(fixture) == [.cancelled: 1])
    }
  }

  @Test("a job with a clip that was quarantined after its submission is rejected without a media process")
  func waiting() async throws {
    try await WorkerFixture.with { fixture in
      try await quarantine(fixture, front: "evil")
      let held = try await fixture.claim()
      let waiting = try await fixture.submitMoment(front: "evil", back: "another")
      _ = await fixture.handler(Self.media(.crashed)).handle(held, isAlone: true, log: WorkerFixture.log)
      let media = FakeMedia()
      try await fixture.attempt(media)
      #expect(media.requests.withLock { $0.isEmpty })
      let post = try await fixture.post(waiting)
      #expect(post.status == .rejected && post.reasons.map(\.code) == [.quarantined])
      #expect(post.reasons.map(\.input) == [.front])
    }
  }

  @Test("of jobs that crash on the same moment concurrently, one counts the quarantine and enqueues its attribution")
  func concurrent() async throws {
    try await WorkerFixture.with { fixture in
      var jobs: [HeldJob] = []
      for _ in 0..<4 {
        _ = try await fixture.submitMoment()
        jobs.append(try await fixture.claim())
      }
      // All of them read their work before the first crash.
      let started = Shared(0)
      let media = (0..<4).map { _ in
        FakeMedia { () async throws(MediaFailure) in
          started.withLock { $0 += 1 }
          await until { started.withLock({ $0 }) >= 4 }
          throw MediaFailure(.crashed, "by the test")
        }
      }
      let handler = fixture.handler(media[0], media[1], media[2], media[3], slots: 4)
      await withTaskGroup { group in
        for job in jobs {
          group.addTask { _ = await handler.handle(job, isAlone: false, log: WorkerFixture.log) }
        }
      }
      #expect(fixture.outcomes == ["postponed": 1, "rejected": 3])
      #expect(fixture.metrics.text().contains(#"take5_quarantined_total{code="decoder_crashed",kind="post"} 1"#))
      #expect(try await attributions(fixture) == [.available: 1])
    }
  }
}
