import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

@Suite("The service behind a pooler", .tags(.process), .serialized, .timeLimit(.minutes(10)))
struct PoolerServiceTests {
  private static let note = "no notifications are heard"

  @Test("with a way past it a worker is woken by notification, and who waits is told")
  func listening() async throws {
    try await withPooledDatabase { pooled, direct in
      let past = ["--listen-database", direct.connectionString]
      // A worker that looks around once an hour takes a job now because it heard of it.
      try await expectEnds(throughPooler(pooled) + past, worker: ["--poll", "3600"]) { log in
        #expect(!log.contains(Self.note))
      }
    }
  }

  @Test("without one, jobs and their ends are found by looking, and the log says so once")
  func polling() async throws {
    try await withPooledDatabase { pooled, _ in
      try await expectEnds(throughPooler(pooled), worker: []) { log in
        #expect(log.split(separator: "\n").count { $0.contains(Self.note) } == 1)
      }
    }
  }

  @Test("a pooler that nobody spoke of, or in the place of the way past it, is refused with what to say")
  func unspoken() async throws {
    try await withPooledDatabase { pooled, direct in
      let database = ["--database", pooled.connectionString]
      let silent = try await Take5Command.run(["migrate"] + database)
      #expect(silent.status == 64)
      #expect(silent.errors.contains("--pooling transaction"), "\(silent.errors)")
      let folder = try TemporaryFolder()
      #expect(try await Take5Command.run(["migrate", "--database", direct.connectionString]).status == 66)
      let made = try await Take5Command.run(
        ["init", "--database", direct.connectionString, "--data", "\(folder.path)/data"])
      #expect(made.status == 0, "\(made.errors)")
      let astray = try await Take5Command.run(
        ["worker", "--data", "/nonexistent"] + throughPooler(pooled) + ["--listen-database", pooled.connectionString])
      #expect(astray.status == 64)
      #expect(astray.errors.contains("--listen-database"), "\(astray.errors)")
      let baseless = try await Take5Command.run(["migrate", "--pooling", "transaction"])
      #expect(baseless.status == 64)
      #expect(try await Take5Command.run(["migrate", "--database", direct.connectionString]).status == 0)
    }
  }

  @Test("the commands of docs/pgbouncer.md run as they stand, behind a pooler as it is configured there")
  func document() async throws {
    let document = try Document("docs/pgbouncer.md")
    let commands = document.commands.map { $0.split(separator: " ").map(String.init) }
    // But for where it is and whom it lets in.
    let settings = document.lines(of: "ini").drop { $0 != "[pgbouncer]" }.dropFirst()
      .filter { !$0.hasPrefix("listen_") && !$0.hasPrefix("auth_") }
    #expect(settings.contains("pool_mode = transaction"))
    try await withPooledDatabase(Array(settings)) { pooled, direct in
      let folder = try TemporaryFolder()
      let places = [
        "postgresql://take5@127.0.0.1:6432/take5": pooled.connectionString,
        "postgresql://take5@127.0.0.1:5432/take5": direct.connectionString,
      ]
      var ran: Set<String> = []
      for command in commands {
        let words = command.dropFirst().map { places[$0] ?? $0 }
        ran.insert(words[0])
        let data = ["TAKE5_DATA": "\(folder.path)/data", "TAKE5_LISTEN": "127.0.0.1:0", "TAKE5_LOG_FORMAT": "text"]
        guard words[0] == "serve" || words[0] == "worker" else {
          let run = try await Take5Command.run(words, environment: data)
          #expect(run.status == 0, "\(command): \(run.errors)")
          continue
        }
        let running = try RunningTake5()
        _ = try await running.start(words, environment: data, saysFirstLine: words[0] == "serve")
        #expect(await running.waitForLog(words[0] == "serve" ? "listening" : "worker started"), "\(running.log)")
        await running.send(signal: 15)
        #expect(await running.wait() == 0, "\(running.log)")
      }
      #expect(ran == ["init", "serve", "worker", "jobs"])
    }
  }

  private func throughPooler(_ pooled: DatabaseURL) -> [String] {
    ["--database", pooled.connectionString, "--pooling", "transaction"]
  }

  /// A database without a schema, through a pooler with two connections to it and past it.
  private func withPooledDatabase(
    _ settings: [String]? = nil, _ body: (_ pooled: DatabaseURL, _ direct: DatabaseURL) async throws -> Void
  ) async throws {
    try await withDatabase { direct in
      try await withPooler(before: direct, settings: settings) { pooled in try await body(pooled, direct) }
    }
  }

  /// Starts a service and a worker beside it, and submits moments one after another that have to end ready.
  private func expectEnds(
    _ access: [String], worker more: [String], _ check: (_ log: String) -> Void
  ) async throws {
    let service = try await Service(workers: 0, access)
    let worker = try await service.worker(access + more)
    #expect(await worker.waitForLog("worker started"), "\(worker.log)")
    let api = try service.api()
    for seed in 0..<3 {
      let answer = try await api.submit(
        "/v1/posts",
        [
          ("front", try TemporaryFile.bytes(of: Clips.front.write())),
          ("back", try TemporaryFile.bytes(of: Clips.back.write())),
          ("post", Array(#"{"author":"ada-\#(seed)"}"#.utf8)),
        ])
      #expect(answer.status == 200, "\(worker.log)\n\(service.process.log)")
      #expect(answer["status"]?.text == "ready")
      let job = try #require(answer["job", "id"]?.text)
      #expect(try await Take5Command.run(["jobs", "watch", job] + access).status == 0)
    }
    await worker.send(signal: 15)
    #expect(await worker.wait() == 0)
    #expect(try await service.stop() == 0)
    check(worker.log)
    check(service.process.log)
    for log in [worker.log, service.process.log] { #expect(!log.contains("postgres "), "\(log)") }
  }
}
