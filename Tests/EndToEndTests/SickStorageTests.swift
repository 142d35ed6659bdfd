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

/// While the storage is sick, what needs none is served, nothing is acknowledged that is not stored, no session holds locks, and the log
/// names the error, if there is one: a call that hangs has none yet. When it is well again, what was acknowledged becomes ready.
@Suite("Sick storage", .tags(.process), .timeLimit(.minutes(15)))
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
    init(
      _ service: Service, _ sickness: String, database: DatabaseURL? = nil, sicken: () async throws -> Void
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
      while wellLatencies.count < Latencies.least {
        for path in Self.paths(moment) { _ = try await wellLatencies.measure { [api] in try await api.get(path) } }
      }
      waiting = try await Self.submit(1, api)
      #expect(waiting.status == 202)
      try await sicken()
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
      repeat { try await expectServed() } while !isAnswered.isCancelled || latencies.count < Latencies.least
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
        while try await api.get("/v1/posts/\(id)")["status"]?.text == "processing",
          let job = post["job", "url"]?.text
        {
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
        while try await scene.api.get(scene.video).status == 503 {}
        #expect(try await scene.api.get(scene.video).status == 200)
        try await scene.expectHealed([2, 3], more, environment: MemoryBucket.keys)
      }
    }
  }

  @Test(
    "a disk that is full or read-only", .enabled("mounting a file system requires root") { MountedFolder.isAllowed },
    arguments: [false, true])
  func disk(isReadOnly: Bool) async throws {
    let service = try await Service(workers: 1, ["--min-free", "0"])
    let disk = try MountedFolder("\(service.data)/blobs", megabytes: 96)
    let scene = try await Scene(service, isReadOnly ? "read-only disk" : "full disk") {
      guard isReadOnly else {
        try disk.fill()
        // What the attempt that runs has written is free when it ends.
        while try await service.texts("SELECT state FROM job WHERE state = 'x' OR attempt = 0").count > 0 {}
        return try disk.fill()
      }
      // Not while a file is open for writing.
      while (try? disk.forbidWriting()) == nil { await Task.yield() }
    }
    let submitted = try await scene.whileServing { try await Scene.submit(2, scene.api) }
    if isReadOnly {
      await scene.expectRefused(submitted, log: "a request met an outage")
    } else {
      #expect(submitted.status == 507 && submitted["type"]?.text == "urn:take5:problem:storage_full")
    }
    // What is stored is read.
    #expect(try await scene.api.get(scene.video).status == 200)
    if isReadOnly { try disk.allowWriting() } else { disk.empty() }
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
    while try await scene.api.get(scene.video).status == 503 {}
    #expect(try await scene.api.get(scene.video).status == 200)
    try await scene.expectHealed([2, 3])
  }
}
