import Model
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@Suite("Workers of two schema versions", .tags(.database))
struct VersionsTests {
  typealias Version = VersionedWorker.Version

  @Test(
    "one version claims what the other enqueues, ends it in every way, and claims it again",
    arguments: Version.allCases, Version.allCases
  )
  func exchange(producing: Version, taking: Version) async throws {
    try await withSession { session in
      let (producer, taker) = (try VersionedWorker(producing, session), try VersionedWorker(taking, session))
      let jobs = try producer.enqueue(4, session)
      let claim = try taker.claim(9, session)
      #expect(Set(claim.ids) == Set(jobs))
      #expect(try producer.claim(9, session).ids.isEmpty)
      try taker.end(claim, { [.completed, .retried, .dead, .released][$0] }, session)

      try producer.promote(session)
      let rest = try producer.claim(9, session)
      #expect(Set(rest.ids) == [claim.ids[1], claim.ids[3]])
      #expect(rest.attempts.sorted() == [1, 2])
      try producer.end(rest, { _ in .completed }, session)
      let ended = try claim.ids.map { try JobQueue.find($0, session)?.state }
      #expect(ended == [.completed, .completed, .dead, .completed])
    }
  }

  @Test("concurrent workers of both versions end every job once", .timeLimit(.minutes(60)))
  func together() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 6, timeout: .seconds(60))
      let ended = Shared<[PublicID]>([])
      let enqueued = try await withThrowingTaskGroup(of: [PublicID].self) { group in
        for version in Version.allCases + Version.allCases {
          group.addTask {
            let worker = try await pool.run { try VersionedWorker(version, $0) }
            var enqueued: [PublicID] = []
            for _ in 0..<8 {
              enqueued += try await pool.transaction { try worker.enqueue(5, $0) }
              let claim = try await pool.run { session in
                try worker.promote(session)
                return try worker.claim(7, session)
              }
              try await pool.run { try worker.end(claim, { $0 % 3 == 0 ? .retried : .completed }, $0) }
              ended.withLock { ended in
                ended += claim.ids.enumerated().filter { $0.offset % 3 != 0 }.map(\.element)
              }
            }
            return enqueued
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      // The remaining jobs.
      try await pool.run { session in
        let workers = try Version.allCases.map { try VersionedWorker($0, session) }
        var isLeft = true
        let deadline = Deadline("no job")
        while isLeft {
          try deadline.check()
          isLeft = false
          for worker in workers {
            try worker.promote(session)
            let claim = try worker.claim(5, session)
            try worker.end(claim, { _ in .completed }, session)
            ended.withLock { $0 += claim.ids }
            isLeft = isLeft || !claim.ids.isEmpty
          }
        }
        let left = try session.execute(
          "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM job_dead) AS left"
        )
        #expect(try left.single().get("left") == 0)
        #expect(try session.execute("SELECT public_id FROM job_done").count == enqueued.count)
      }
      let all = ended.withLock { $0 }
      #expect(all.count == enqueued.count)
      #expect(Set(all) == Set(enqueued))
      await pool.close()
    }
  }

  @Test(
    "one version takes the jobs of a lost worker of the other, which cannot end them any more",
    arguments: Version.allCases,
    Version.allCases)
  func lostWorkers(losing: Version, finding: Version) async throws {
    try await withSession { session in
      let lost = try VersionedWorker(losing, session)
      let jobs = try lost.enqueue(2, session)
      let claim = try lost.claim(9, session)
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      let finder = try VersionedWorker(finding, session)
      #expect(try finder.reap(session) == 2)
      #expect(throws: LeaseLost.self) { try lost.end(claim, { _ in .completed }, session) }
      try session.execute("UPDATE job SET run_at = clock_timestamp()")
      try finder.promote(session)
      var found: [PublicID] = []
      let deadline = Deadline("no job")
      while true {
        try deadline.check()
        let claim = try finder.claim(9, session)
        if claim.ids.isEmpty { break }
        // The first version counts the attempt of a lost worker; the present one does not.
        let expected = finding == .first ? 2 : 1
        #expect(claim.attempts.allSatisfy { $0 == expected })
        try finder.end(claim, { _ in .completed }, session)
        found += claim.ids
      }
      #expect(Set(found) == Set(jobs))
      #expect(try session.execute("SELECT FROM job_done").count == 2)
    }
  }
}
