import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// Everybody films at once: many more moments than two slots compose meanwhile. `make bench-rush` is the long form.
@Suite("A rush", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct RushTests {
  /// A service that may be killed and started again, workers, and the clients of both.
  private struct Town: Sendable {
    let folder: TemporaryFolder
    let database: String
    let pool: Pool
    let service: Shared<Service>
    let clips: (front: [UInt8], back: [UInt8])
    let refusals = Shared<[Int]>([])

    init(_ url: DatabaseURL) async throws {
      database = url.connectionString
      pool = Pool(url, size: 2)
      folder = try TemporaryFolder(prefix: "take5-rush")
      service = Shared(try await Service(workers: 0, ["--database", database], in: folder))
      clips = (try TemporaryFile.bytes(of: Clips.front.write()), try TemporaryFile.bytes(of: Clips.back.write()))
    }

    var current: Service { service.withLock(\.self) }

    func worker(slots: Int) async throws -> RunningTake5 {
      try await current.worker(["--database", database, "--slots", "\(slots)"])
    }

    /// Kills the service, and starts it again.
    func restart() async throws {
      let old = current
      await old.process.send(signal: SIGKILL)
      #expect(await old.process.wait() == nil)
      let new = try await Service(workers: 0, ["--database", database], in: folder)
      service.withLock { $0 = new }
    }

    func end() async throws {
      #expect(try await current.stop() == 0)
      await pool.close()
    }

    /// Sends a request until a service responds.
    func respond(_ send: (API) async throws -> API.Response) async throws -> API.Response {
      var response: API.Response?
      try await until {
        do { response = try await send(current.api()) } catch is ClientConnection.Failure {} catch is SystemError {}
        return response != nil
      }
      return try #require(response)
    }

    /// The texts in the first column of a query.
    func texts(_ query: String) async throws -> [String] {
      try await pool.run { session in
        try session.execute(Statement(name: "test", text: query)).map { try $0.get(0, as: String.self) }
      }
    }

    func count(_ query: String) async throws -> Int {
      try #require(Int(try await texts("SELECT (\(query))::text").first ?? ""))
    }

    /// Submits a moment of its own; a client that gets no answer repeats it.
    func submit(_ number: Int, by author: String) async throws -> API.Response {
      let filler = UInt8(truncatingIfNeeded: number)
      let parts = [
        (name: "post", bytes: Array(#"{"author":"\#(author)"}"#.utf8)),
        ("front", Clips.padded(clips.front, by: 64, filler: filler)),
        ("back", Clips.padded(clips.back, by: 64, filler: filler)),
      ]
      let headers = [("Idempotency-Key", "moment-\(number)")]
      let response = try await respond { try await $0.submit("/v1/posts", parts, headers: headers) }
      if response.status != 202 { refusals.withLock { $0.append(response.status) } }
      return response
    }
  }

  /// The authors of the moments 0, 1, …: one author has the first ten.
  private static func author(_ number: Int) -> String { number < 10 ? "ada" : "author\(number)" }

  @Test("what clients open goes first, and an author with ten moments holds up others by no more than a share")
  func order() async throws {
    try await withDatabase { database in
      let town = try await Town(database)
      var jobs: [String] = []
      for number in 0..<18 {
        let response = try await town.submit(number, by: Self.author(number))
        jobs.append(try #require(response["job", "id"]?.text))
        if number > 14 {
          #expect(
            try await town.respond { try await $0.get(response.response.headers["location"] ?? "") }.status == 200)
        }
      }
      try await until { try await town.count("SELECT count(*) FROM job WHERE priority < 0") == 3 }
      let worker = try await town.worker(slots: 1)
      try await until { try await town.count("SELECT count(*) FROM job") == 0 }
      let done = try await town.texts(
        "SELECT public_id::text FROM job_done WHERE kind = 'post' ORDER BY started_at")
      #expect(Array(done.prefix(3)) == Array(jobs[15...]), "what is waited for is first")
      #expect(done[3] == jobs[0])
      // An author has a turn every ten seconds: each turn up to then may precede a moment of another author.
      let most = try await town.texts(
        """
        SELECT (1 + ceil(extract(epoch FROM job.created_at - first.created_at) / 10))::int::text
        FROM job_done AS job, (SELECT min(created_at) AS created_at FROM job_done) AS first
        WHERE job.kind = 'post' ORDER BY job.public_id
        """
      ).compactMap { Int($0) }
      for number in 10..<15 {
        let place = try #require(done.firstIndex(of: jobs[number]))
        #expect(done[..<place].count { jobs[..<10].contains($0) } <= most[number])
      }
      #expect(done.filter { jobs[..<10].contains($0) } == Array(jobs[..<10]))
      // While many compositions wait, looks precede theirs.
      #expect(try await Self.previewed(town).isSuperset(of: done.suffix(6)))
      await worker.send(signal: SIGTERM)
      #expect(await worker.wait() == 0)
      try await town.end()
    }
  }

  @Test("in a rush, with two kills of the service and one of a worker, no submission is refused and nothing is lost")
  func rush() async throws {
    try await withDatabase { database in
      let town = try await Town(database)
      let workers = [try await town.worker(slots: 1), try await town.worker(slots: 1)]
      await workers[0].whenItLogs("composing") { kill($0, SIGKILL) }
      let (numbers, reads, isOver) = (Shared(0), Shared<[Int: Int]>([:]), CancellationFlag())
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            let deadline = Deadline("the end of the rush", within: .seconds(600))
            while true {
              try deadline.check()
              let number = numbers.withLock { number in
                defer { number += 1 }
                return number
              }
              guard number < Self.moments else { return }
              let response = try await town.submit(number, by: Self.author(number))
              if Self.kills.contains(number) { try await town.restart() }
              guard number % 3 == 0, let path = response.response.headers["location"] else { continue }
              let opened = try await town.respond { try await $0.get(path) }
              reads.withLock { $0[opened.status, default: 0] += 1 }
            }
          }
        }
        group.addTask {
          let deadline = Deadline("the end of the rush", within: .seconds(600))
          while !isOver.isCancelled {
            try deadline.check()
            let list = try await town.respond { try await $0.get("/v1/posts?limit=20") }
            reads.withLock { $0[list.status, default: 0] += 1 }
          }
        }
        group.addTask {
          try await until(within: .seconds(600)) {
            let left = try await town.count("SELECT count(*) FROM job")
            return numbers.withLock { $0 } >= Self.moments + 4 && left == 0
          }
          isOver.cancel()
        }
        try await group.waitForAll()
      }
      #expect(town.refusals.withLock(\.self) == [])
      #expect(reads.withLock { Set($0.keys) } == [200])
      try await Self.check(town)
      #expect(await workers[0].wait() == nil)
      await workers[1].send(signal: SIGTERM)
      #expect(await workers[1].wait() == 0)
      try await town.end()
      let verified = try await Take5Command.run(["verify", "--data", town.current.data, "--database", town.database])
      #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    }
  }

  private static let moments = 36
  private static let kills: Set = [8, 24]

  /// The jobs of the posts that had their looks, each a whole one, and none after its composition.
  private static func previewed(_ town: Town) async throws -> Set<String> {
    let events =
      "FROM user_event AS look JOIN user_event AS ready ON ready.post = look.post AND ready.user_id = look.user_id JOIN post ON post.public_id = look.post"
    let kinds = "WHERE look.kind = 'post_previewed' AND ready.kind = 'post_ready'"
    #expect(try await town.count("SELECT count(*) \(events) \(kinds) AND look.number > ready.number") == 0)
    let sizes = try await town.count(
      """
      SELECT count(DISTINCT size) FROM (
        SELECT count(*) AS size FROM asset JOIN asset_set ON asset_set.id = asset.asset_set_id
        WHERE replaced_by IS NOT NULL GROUP BY asset_set.id) AS looks
      """)
    #expect(sizes == 1)
    return Set(try await town.texts("SELECT post.job::text \(events) \(kinds)"))
  }

  /// Every post is ready once.
  private static func check(_ town: Town) async throws {
    for (count, query) in [
      (moments, "SELECT count(*) FROM post WHERE status = 'ready'"),
      (moments, "SELECT count(*) FROM post"),
      (moments, "SELECT count(*) FROM job_done WHERE kind = 'post' AND outcome = 'a'"),
      (0, "SELECT count(*) FROM job_dead"),
      // The sources and the outputs of each.
      (2 * moments, "SELECT count(*) FROM asset_set WHERE retired_at IS NULL"),
    ] {
      #expect(try await town.count(query) == count, "\(query)")
    }
    #expect(try await previewed(town).count > moments / 2)
  }
}
