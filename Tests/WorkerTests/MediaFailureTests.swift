import Blobs
import Crypto
import Glibc
import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Telemetry
import Testing

@testable import Worker

@Suite("Media that fail or are rejected", .tags(.database), .timeLimit(.minutes(60)))
struct MediaFailureTests {
  @Test("media that break a media process twice are rejected and quarantined, and not earlier")
  func crashes() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit(photos: ["good", "evil"])
      let limits = MediaCrash.Limits(memory: 1 << 30, cpuSeconds: 60, fileSize: 1 << 20, deadlineSeconds: 90)
      for round in 1...2 {
        let photos = Shared(0)
        let media = FakeMedia { () async throws(MediaFailure) in
          let number = photos.withLock { photos in
            photos += 1
            return photos
          }
          guard number == 2 else { return }
          throw MediaFailure(
            .crashed, "by the test", crash: MediaCrash(stage: .photo, signal: "SIGSEGV", limits: limits))
        }
        #expect(try await fixture.attempt(media) == .unknown)
        #expect(try await fixture.post(post).status == (round == 1 ? .processing : .rejected))
        #expect(try await fixture.quarantined().count == round - 1)
      }
      let found = try await fixture.post(post)
      #expect(found.reasons.map(\.code) == [.decoderCrashed] && found.reasons.map(\.photo) == [1])
      #expect(found.job?.state == .completed)
      let media = try #require(try await fixture.quarantined().first)
      // The photo has this hash, and not the post.
      #expect(media.hash == SHA256.digest(of: Array("evil".utf8)) && media.inputs.map(\.hash) == [media.hash])
      #expect(media.kind == .photo && media.crash.signal == "SIGSEGV" && media.crash.stage == "photo")
      #expect(try JSON.decode(MediaCrash.Limits.self, from: Array((media.crash.limits ?? "").utf8)) == limits)
      #expect(fixture.metrics.text().contains(#"take5_quarantined_total{code="decoder_crashed",kind="post"} 1"#))
    }
  }

  @Test("an input is quarantined once, also if an attempt that began before crashes on it afterwards")
  func quarantinedOnce() async throws {
    try await WorkerFixture.with { fixture in
      for _ in 0..<2 { try await fixture.submit(photos: ["evil"]) }
      let first = try await fixture.claim()
      let media = FakeMedia { () async throws(MediaFailure) in
        await #expect(throws: Never.self) {
          for _ in 0..<2 { try await fixture.attempt(FakeMedia.failing(.crashed)) }
        }
        throw MediaFailure(.crashed, "by the test")
      }
      #expect(await fixture.handler(media).handle(first, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(fixture.outcomes == ["postponed": 1, "rejected": 2])
      #expect(try await fixture.quarantined().map(\.crashes) == [3])
      #expect(fixture.metrics.text().contains(#"take5_quarantined_total{code="decoder_crashed",kind="post"} 1"#))
    }
  }

  @Test("each failure that the media cause is counted, and a publication resets the count")
  func publicationResets() async throws {
    try await WorkerFixture.with { fixture in
      for kind in [MediaFailure.Kind.crashed, .memoryLimitExceeded, .deadlineExceeded] {
        let post = try await fixture.submitMoment()
        try await fixture.attempt(FakeMedia.failing(kind))
        try await fixture.attempt(FakeMedia())
        #expect(try await fixture.post(post).status == .ready)
      }
      #expect(try await fixture.quarantined().isEmpty)
      let post = try await fixture.submitMoment()
      for _ in 0..<2 { try await fixture.attempt(FakeMedia.failing(.memoryLimitExceeded)) }
      #expect(try await fixture.post(post).reasons.map(\.code) == [.memoryLimitExceeded])
      #expect(try await fixture.quarantined().map(\.kind) == [.moment])
    }
  }

  @Test("a kill from outside is not counted, however often it happens")
  func killed() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      for _ in 0..<4 { try await fixture.attempt(FakeMedia.failing(.interrupted)) }
      #expect(try await fixture.post(post).status == .processing)
      // One crash is still the first.
      try await fixture.attempt(FakeMedia.failing(.crashed))
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.quarantined().isEmpty)
    }
  }

  @Test("media that were quarantined after their submission are rejected without a media process")
  func quarantinedMeanwhile() async throws {
    try await WorkerFixture.with { fixture in
      let posts = [try await fixture.submit(photos: ["evil"]), try await fixture.submit(photos: ["good", "evil"])]
      let first = try await fixture.claim()
      _ = try await fixture.pool.transaction { [store = fixture.store] session in
        let work = try #require(try store.work(for: first.job, session))
        let crash = CrashFacts(code: .decoderCrashed, error: "by the test", photo: 0)
        for _ in 0..<Quarantine.maxCrashes { _ = try Quarantine.countCrash(crash, of: work, session) }
      }
      let media = FakeMedia()
      _ = await fixture.handler(media).handle(first, isAlone: true, log: WorkerFixture.log)
      try await fixture.attempt(media)
      #expect(media.requests.withLock { $0.isEmpty })
      for (index, post) in posts.enumerated() {
        let found = try await fixture.post(post)
        #expect(found.status == .rejected && found.reasons.map(\.code) == [.quarantined])
        #expect(found.reasons.map(\.photo) == [index])
      }
    }
  }

  @Test("clips that the probe or the run rejects are rejected, and a probe that rejects them is not followed by a run")
  func rejectedClips() async throws {
    for rejectsInProbe in [true, false] {
      try await WorkerFixture.with { fixture in
        let post = try await fixture.submitMoment()
        let media = FakeMedia(
          reason: Reason(.corruptVideo, input: .front, detail: "broken"), rejectsInProbe: rejectsInProbe)
        #expect(try await fixture.attempt(media) == .healthy)
        #expect(media.requests.withLock { $0 } == (rejectsInProbe ? ["probe"] : ["probe", "run throughput"]))
        #expect(try await fixture.post(post).status == .rejected)
      }
    }
  }

  @Test("one rejected photo rejects the post, and the reason names it")
  func rejectedPhoto() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit(photos: ["one", "two"])
      let media = FakeMedia(reason: Reason(.corruptVideo, input: nil, detail: "broken"))
      #expect(try await fixture.attempt(media) == .healthy)
      #expect(try await fixture.post(post).reasons.map(\.photo) == [0, 1])
    }
  }

  @Test("findings that the database cannot store are left out")
  func findings() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      // The error of a database whose encoding lacks a character.
      try await fixture.pool.run { session in
        try session.executeScript(
          """
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'no equivalent in this encoding' USING ERRCODE = '22P05'; END $$;
          CREATE TRIGGER refuse BEFORE UPDATE ON post FOR EACH ROW
            WHEN (NEW.reasons::text LIKE '%unstorable%') EXECUTE FUNCTION refuse()
          """, name: "test.refuse")
      }
      let media = FakeMedia(reason: Reason(.corruptVideo, input: nil, detail: "unstorable"))
      #expect(try await fixture.attempt(media) == .healthy)
      let found = try await fixture.post(post)
      #expect(found.status == .rejected)
      #expect(found.reasons.map(\.code) == [.corruptVideo])
      #expect(found.reasons.first?.detail == "What was found cannot be stored.")
    }
  }

  @Test("a source that is damaged in the storage is read by no media process, and the damage is recorded")
  func damagedSource() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim()
      try Self.damage(fixture.blobs.location(of: try await fixture.source(of: held.job)))
      let media = FakeMedia()
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(media.requests.withLock { $0.isEmpty })
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.job(held.job.publicID).state == .scheduled)
      #expect(fixture.metrics.text().contains(#"take5_blobs_damaged_total{kind="corrupt"} 1"#))
    }
  }

  @Test(
    "a source that is damaged while it is read rejects no media, and the damage is recorded", arguments: [true, false])
  func damagedMeanwhile(isRejected: Bool) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim()
      let path = fixture.blobs.location(of: try await fixture.source(of: held.job))
      let media = FakeMedia(reason: isRejected ? Reason(.corruptVideo, input: nil, detail: "broken") : nil) {
        () async throws(MediaFailure) in
        #expect(throws: Never.self) { try Self.damage(path) }
        if !isRejected { throw MediaFailure(.internal, "by the test") }
      }
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.job(held.job.publicID).state == .scheduled)
      #expect(fixture.metrics.text().contains(#"take5_blobs_damaged_total{kind="corrupt"} 1"#))
    }
  }

  @Test("a copy of a source that changes while it is read, and is replaced then, rejects no media and is no damage")
  func changedMeanwhile() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim()
      let path = fixture.blobs.location(of: try await fixture.source(of: held.job))
      let media = FakeMedia(reason: Reason(.corruptVideo, input: nil, detail: "broken")) {
        () async throws(MediaFailure) in
        #expect(throws: Never.self) {
          let whole = try Descriptor(reading: path).contents()
          try Self.damage(path)
          try Descriptor(writing: "\(path).whole", replacing: false).write(whole)
          try #require(rename("\(path).whole", path) == 0)
        }
      }
      _ = await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log)
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.job(held.job.publicID).state == .scheduled)
      #expect(!fixture.metrics.text().contains(/take5_blobs_damaged_total\{[^}]*\} [1-9]/))
    }
  }

  @Test("a source that is missing because its post was deleted meanwhile is no damage: the job is cancelled")
  func deletedMeanwhile() async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim()
      let source = try await fixture.source(of: held.job)
      let media = FakeMedia { () async throws(MediaFailure) in
        await #expect(throws: Never.self) {
          // As a deletion whose transaction finds the job's row locked.
          try await fixture.pool.run {
            _ = try $0.execute("DELETE FROM post WHERE public_id = $1::uuid", .text("\(post)"))
          }
          try fixture.blobs.remove(source)
        }
        throw MediaFailure(.internal, "by the test")
      }
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .unknown)
      #expect(try await fixture.job(held.job.publicID).state == .cancelled)
      #expect(fixture.outcomes == ["cancelled": 1])
    }
  }

  /// Changes a file to one of the same length, so that only the hash shows the damage.
  private static func damage(_ path: String) throws {
    try #require(chmod(path, 0o600) == 0)
    let file = try #require(fopen(path, "r+"))
    fputs("PHOTO", file)
    fclose(file)
  }
}
