import Glibc
import HTTPClient
import HTTPServer
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// While the storage is sick, what needs none is served, nothing is acknowledged that is not stored, no session holds locks, and the log
/// names the error, if there is one: a call that hangs has none yet. When it is well again, what was acknowledged becomes ready.
@Suite("Sick storage", .tags(.process), .timeLimit(.minutes(60)))
struct SickStorageTests {
  /// A service with a moment that is ready, and a photo whose job may meet the trouble.
  private struct Scene {
    let service: Service
    let api: API
    let database: DatabaseURL
    let moment: API.Response
    let waiting: API.Response
    private let sickness: String
    private let wellLatencies = Latencies()
    private let latencies = Latencies()

    /// - Parameters:
    ///   - sickness: what the log of the test calls it.
    ///   - database: nil: the service's own.
    ///   - isHeld: whether the job of the photo waits for `release()`.
    init(
      _ service: Service, _ sickness: String, database: DatabaseURL? = nil, isHeld: Bool = false,
      sicken: () async throws -> Void
    ) async throws {
      self.service = service
      self.sickness = sickness
      self.database = try database ?? service.database()
      api = try service.api()
      moment = try await api.submit(
        "/v1/posts",
        [
          ("front", try TemporaryFile.bytes(of: Clips.front.write())),
          ("back", try TemporaryFile.bytes(of: Clips.back.write())), ("post", Array(#"{"author":"ada"}"#.utf8)),
        ])
      try #require(moment["status"]?.text == "ready", "\(service.process.log)")
      let deadline = Deadline("\(Latencies.least) requests of a service that is well")
      while wellLatencies.count < Latencies.least {
        try deadline.check()
        for path in Self.paths(moment) { _ = try await wellLatencies.measure { [api] in try await api.get(path) } }
      }
      if isHeld { try await service.execute(Self.hold) }
      waiting = try await Self.submit(1, api)
      #expect(waiting.status == 202)
      try await sicken()
    }

    private static let hold = """
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.state := 's'; NEW.run_at := clock_timestamp() + interval '1 day'; RETURN NEW; END $$;
      CREATE TRIGGER hold BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION hold();
      """

    /// Lets the jobs that are held start.
    static func release(_ service: Service) async throws {
      try await service.execute("DROP TRIGGER hold ON job; DROP FUNCTION hold")
      for job in try await service.texts("SELECT public_id::text FROM job WHERE state = 's'") {
        #expect(try await service.api().send("POST", "/v1/jobs/\(job)/retry").status == 200)
      }
    }

    /// The composed video, which is a file of the storage.
    var video: String { moment["assets", "composed", "url"]?.text ?? "" }

    /// Submits a photo that no other submission has.
    static func submit(_ number: UInt8, _ api: API) async throws -> API.Response {
      try await api.submit(
        "/v1/posts",
        [
          ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)),
          ("photo", try StoreCommandTests.photo((number, 9, 200))),
        ], headers: [("Idempotency-Key", "photo-\(number)")])
    }

    /// What needs no storage.
    private static func paths(_ moment: API.Response) -> [String] {
      ["/livez", "/v1/posts", "/v1/posts/\(moment["id"]?.text ?? "")", "/v1/window"]
    }

    /// Expects that what needs no storage is served, and that no session has waited for anything within a transaction.
    func expectServed() async throws {
      for path in Self.paths(moment) {
        let found = try await latencies.measure { try await api.get(path) }
        #expect(found.status == 200, "\(path)")
      }
      let held = try Session.connect(database, timeout: .seconds(5)).execute(
        """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - interval '1 second'
        """
      ).single().get(0, as: Int.self)
      #expect(held == 0)
    }

    /// Sends a request, and expects until it is answered, and for some requests longer, that the others are served.
    func whileServing(_ send: @escaping @Sendable () async throws -> API.Response) async throws -> API.Response {
      let answer = OneShot<Result<API.Response, any Error>>()
      let isAnswered = CancellationFlag()
      let sending = Task {
        do { answer.fulfil(.success(try await send())) } catch { answer.fulfil(.failure(error)) }
        isAnswered.cancel()
      }
      let deadline = Deadline("a response of a service whose storage is sick", within: .seconds(300))
      repeat {
        try deadline.check()
        try await expectServed()
      } while !isAnswered.isCancelled || latencies.count < Latencies.least
      await sending.value
      return try await answer.value.get()
    }

    /// Expects a refusal that says when to come back, and that the log names the error.
    func expectRefused(_ response: API.Response, problem: String = "storage_unavailable", log: String) async {
      #expect(response.status == 503 && response["type"]?.text == "urn:take5:problem:\(problem)", "\(response.status)")
      #expect(response.response.headers["retry-after"] != nil)
      #expect(await service.process.waitForLog(log), "\(service.process.log)")
    }

    /// Expects that everything becomes ready, once, and that nothing is damaged.
    func expectHealed(_ numbers: [UInt8], _ more: [String] = [], environment: [String: String] = [:]) async throws {
      // For the reader: on a busy machine this is no measure of the service.
      print("\(sickness): p99 of other reads: \(latencies.text), before: \(wellLatencies.text)")
      var posts = [waiting]
      for number in numbers { posts.append(try await Self.submit(number, api)) }
      for post in posts {
        #expect(post.status == 202)
        let id = try #require(post["id"]?.text)
        let deadline = Deadline("the end of a job", within: .seconds(300))
        while try await api.get("/v1/posts/\(id)")["status"]?.text == "processing",
          let job = post["job", "url"]?.text
        {
          try deadline.check()
          _ = try await api.get("\(job)?wait=60")
        }
        #expect(try await api.get("/v1/posts/\(id)")["status"]?.text == "ready", "\(service.process.log)")
      }
      let stored = try Session.connect(database, timeout: .seconds(5)).execute("SELECT count(*) FROM post").single()
        .get(0, as: Int.self)
      #expect(stored == posts.count + 1)
      #expect(!service.process.log.contains("idle-in-transaction timeout"))
      #expect(try await service.stop() == 0)
      let verified = try await Take5Command.run(
        ["verify", "--deep", "--data", service.data] + more, environment: environment)
      #expect(verified.status == 0, "\(verified.output) \(verified.errors)")
    }
  }

  /// How long requests take, as their clients see it.
  private final class Latencies: Sendable {
    /// As many as a 99th percentile takes.
    static let least = 200
    private let values = Locked<[Duration]>([])

    var count: Int { values.withLock { $0.count } }

    func measure<Value>(_ body: () async throws -> Value) async rethrows -> Value {
      let start = ContinuousClock.now
      let value = try await body()
      let duration = start.duration(to: .now)
      values.withLock { $0.append(duration) }
      return value
    }

    /// The 99th percentile, with the number of requests.
    var text: String {
      let sorted = values.withLock { $0.sorted() }
      guard !sorted.isEmpty else { return "none" }
      let milliseconds = sorted[(sorted.count * 99 + 99) / 100 - 1] / .milliseconds(1)
      return "\((milliseconds * 10).rounded() / 10) ms (\(sorted.count))"
    }
  }

  @Test(
    "a bucket that does not answer, takes forty seconds for each request, or stalls within objects",
    arguments: MemoryBucket.Trouble.allCases)
  func bucket(_ trouble: MemoryBucket.Trouble) async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      try await withDatabase { database in
        let more = ["--database", database.connectionString, "--blobs", MemoryBucket.url(port: server.port)]
        let service = try await Service(workers: 1, more, environment: MemoryBucket.keys)
        let scene = try await Scene(service, "bucket \(trouble)", database: database) { bucket.set(trouble) }
        // What is read comes from the bucket. The worker may write a copy meanwhile.
        #expect(rename("\(service.data)/blob-cache", "\(service.data)/blob-cache-removed") == 0)
        let media = try await scene.whileServing { try await scene.api.get(scene.video) }
        await scene.expectRefused(media, log: "a request met an outage")
        let submitted = try await scene.whileServing { try await Scene.submit(2, scene.api) }
        if trouble == .stalling {
          #expect(submitted.status == 202)
        } else {
          await scene.expectRefused(submitted, log: "127.0.0.1:\(server.port)")
        }
        bucket.set(nil)
        // One call at a time finds out that it answers.
        try await until { try await scene.api.get(scene.video).status != 503 }
        #expect(try await scene.api.get(scene.video).status == 200)
        try await scene.expectHealed([2, 3], more, environment: MemoryBucket.keys)
      }
    }
  }

  enum Disk: CaseIterable { case full, fullBeforeTheAttempt, readOnly }

  @Test(
    "a disk that is full or read-only", .enabled("mounting a file system requires root") { MountedFolder.isAllowed },
    arguments: Disk.allCases)
  func disk(_ state: Disk) async throws {
    let service = try await Service(workers: 1, ["--min-free", "0"])
    let disk = try MountedFolder("\(service.data)/blobs", megabytes: 96)
    let scene = try await Scene(service, "disk \(state)", isHeld: state == .fullBeforeTheAttempt) {
      // Not while a file is open for writing.
      if state == .readOnly { return try await until { (try? disk.forbidWriting()) != nil } }
      try disk.fill()
      if state == .fullBeforeTheAttempt { try await Scene.release(service) }
      // What the attempt that runs has written is free when it ends. One that met the full disk was given back: it does not count.
      try await until {
        try await service.count(
          "SELECT count(*)::int FROM job WHERE state = 'x' OR (attempt = 0 AND postponed_at IS NULL)") == 0
      }
      try disk.fill()
    }
    let submitted = try await scene.whileServing { try await Scene.submit(2, scene.api) }
    if state == .readOnly {
      await scene.expectRefused(submitted, log: "a request met an outage")
    } else {
      #expect(submitted.status == 507 && submitted["type"]?.text == "urn:take5:problem:storage_full")
    }
    // What is stored is read.
    #expect(try await scene.api.get(scene.video).status == 200)
    if state == .readOnly { try disk.allowWriting() } else { disk.empty() }
    try await scene.expectHealed([2, 3])
  }

  @Test(
    "a disk whose calls hang", .enabled("freezing a file system requires root") { FrozenFolder.isAllowed })
  func frozen() async throws {
    let service = try await Service(workers: 1, ["--min-free", "0"])
    let disk = try FrozenFolder("\(service.data)/blobs", image: "\(service.folder.path)/image")
    let scene = try await Scene(service, "hanging disk") { try disk.setFrozen(true) }
    let submitted = try await scene.whileServing { [api = scene.api, video = scene.video] in
      async let other = Scene.submit(3, api)
      #expect(try await api.get(video).status == 200)
      let submitted = try await Scene.submit(2, api)
      #expect(try await other.status == 503)
      return submitted
    }
    await scene.expectRefused(submitted, log: "has not ended in time")
    try disk.setFrozen(false)
    // Neither is stored, now that its call ends.
    try await scene.expectHealed([4, 5])
  }

  @Test("a FIFO in the place of a blob")
  func fifo() async throws {
    let service = try await Service(workers: 1)
    let scene = try await Scene(service, "FIFO") {}
    let hashes = try await service.texts("SELECT encode(blob, 'hex') FROM asset WHERE role = 'composed'")
    let hash = try #require(hashes.first)
    let path = "\(service.data)/blobs/\(hash.prefix(2))/\(hash)"
    #expect(unlink(path) == 0)
    #expect(mkfifo(path, 0o600) == 0)
    let media = try await scene.whileServing { try await scene.api.get(scene.video) }
    await scene.expectRefused(media, problem: "media_damaged", log: "a blob is damaged")
    #expect(try await scene.whileServing { try await Scene.submit(2, scene.api) }.status == 202)
    // A worker makes it again.
    try await until { try await scene.api.get(scene.video).status != 503 }
    #expect(try await scene.api.get(scene.video).status == 200)
    try await scene.expectHealed([2, 3])
  }
}
