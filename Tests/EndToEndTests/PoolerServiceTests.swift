import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

@Suite("Service behind a pooler", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct PoolerServiceTests {
  private static let note = "no notifications are received"

  @Test("with --listen-database, workers and waiting clients are notified")
  func listening() async throws {
    try await withPooledDatabase { pooled, direct in
      let listen = ["--listen-database", direct.connectionString]
      // A worker that polls once an hour can only run the job because of a notification.
      try await expectEnds(throughPooler(pooled), listening: listen, worker: ["--poll", "3600"]) { log in
        #expect(!log.contains(Self.note))
      }
    }
  }

  @Test("without --listen-database, the queue is polled, and the log says so once")
  func polling() async throws {
    try await withPooledDatabase { pooled, _ in
      try await expectEnds(throughPooler(pooled), worker: []) { log in
        #expect(log.split(separator: "\n").count { $0.contains(Self.note) } == 1)
      }
    }
  }

  @Test("a pooler without --pooling, or as --listen-database, is refused with a hint")
  func refused() async throws {
    try await withPooledDatabase { pooled, direct in
      let database = ["--database", pooled.connectionString]
      let unknown = try await Take5Command.run(["migrate"] + database)
      #expect(unknown.status == 64)
      #expect(unknown.errors.contains("--pooling transaction"), "\(unknown.errors)")
      let folder = try TemporaryFolder()
      #expect(try await Take5Command.run(["migrate", "--database", direct.connectionString]).status == 66)
      let created = try await Take5Command.run(
        ["init", "--database", direct.connectionString, "--data", "\(folder.path)/data"])
      #expect(created.status == 0, "\(created.errors)")
      let pooledListener = try await Take5Command.run(
        ["worker", "--data", "/nonexistent"] + throughPooler(pooled) + ["--listen-database", pooled.connectionString])
      #expect(pooledListener.status == 64)
      #expect(pooledListener.errors.contains("--listen-database"), "\(pooledListener.errors)")
      let withoutDatabase = try await Take5Command.run(["migrate", "--pooling", "transaction"])
      #expect(withoutDatabase.status == 64)
      #expect(try await Take5Command.run(["migrate", "--database", direct.connectionString]).status == 0)
    }
  }

  @Test("the commands of docs/pgbouncer.md run with the configuration of the document")
  func document() async throws {
    let document = try Document("docs/pgbouncer.md")
    let commands = document.commands.map { $0.split(separator: " ").map(String.init) }
    // Without the listen address and the authentication.
    let settings = document.lines(of: "ini").drop { $0 != "[pgbouncer]" }.dropFirst()
      .filter { !$0.hasPrefix("listen_") && !$0.hasPrefix("auth_") }
    #expect(settings.contains("pool_mode = transaction"))
    try await withPooledDatabase(Array(settings)) { pooled, direct in
      let folder = try TemporaryFolder()
      let urls = [
        "postgresql://take5@127.0.0.1:6432/take5": pooled.connectionString,
        "postgresql://take5@127.0.0.1:5432/take5": direct.connectionString,
      ]
      var ran: Set<String> = []
      for command in commands {
        let arguments = command.dropFirst().map { urls[$0] ?? $0 }
        ran.insert(arguments[0])
        let data = ["TAKE5_DATA": "\(folder.path)/data", "TAKE5_LISTEN": "127.0.0.1:0", "TAKE5_LOG_FORMAT": "text"]
        guard arguments[0] == "serve" || arguments[0] == "worker" else {
          let run = try await Take5Command.run(arguments, environment: data)
          #expect(run.status == 0, "\(command): \(run.errors)")
          continue
        }
        let running = try RunningTake5()
        _ = try await running.start(arguments, environment: data, printsFirstLine: arguments[0] == "serve")
        #expect(await running.waitForLog(arguments[0] == "serve" ? "listening" : "worker started"), "\(running.log)")
        await running.send(signal: 15)
        #expect(await running.wait() == 0, "\(running.log)")
      }
      #expect(ran == ["init", "serve", "worker", "jobs"])
    }
  }

  private func throughPooler(_ pooled: DatabaseURL) -> [String] {
    ["--database", pooled.connectionString, "--pooling", "transaction"]
  }

  /// Provides a database without a schema, through a pooler with two server connections and directly.
  private func withPooledDatabase(
    _ settings: [String]? = nil, _ body: (_ pooled: DatabaseURL, _ direct: DatabaseURL) async throws -> Void
  ) async throws {
    try await withDatabase { direct in
      try await withPooler(before: direct, settings: settings) { pooled in try await body(pooled, direct) }
    }
  }

  /// Starts a service and a worker, and submits moments one after another, all of which must become ready.
  private func expectEnds(
    _ access: [String], listening: [String] = [], worker more: [String], _ check: (_ log: String) -> Void
  ) async throws {
    let service = try await Service(workers: 0, access + listening)
    let worker = try await service.worker(access + listening + more)
    #expect(await worker.waitForLog("worker started"), "\(worker.log)")
    let api = try service.api()
    for seed in 0..<3 {
      let response = try await api.submit(
        "/v1/posts",
        [
          ("front", try TemporaryFile.bytes(of: Clips.front.write())),
          ("back", try TemporaryFile.bytes(of: Clips.back.write())),
          ("post", Array(#"{"author":"ada-\#(seed)"}"#.utf8)),
        ])
      #expect(response.status == 200, "\(worker.log)\n\(service.process.log)")
      #expect(response["status"]?.text == "ready")
      let job = try #require(response["job", "id"]?.text)
      #expect(try await Take5Command.run(["jobs", "show", job] + access).status == 0)
    }
    await worker.send(signal: 15)
    #expect(await worker.wait() == 0)
    #expect(try await service.stop() == 0)
    check(worker.log)
    check(service.process.log)
    for log in [worker.log, service.process.log] { #expect(!log.contains("postgres "), "\(log)") }
  }
}
