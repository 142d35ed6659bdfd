import Glibc
import HTTPClient
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// Services and workers that start while their storage or their database cannot be used.
@Suite("Start without the storage or the database", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct SickStartTests {
  /// What is in the place of the folder of blobs.
  enum Sickness: CaseIterable {
    /// A mount point without its file system.
    case empty
    case missing, file, danglingLink
    /// A folder whose store-id cannot be read.
    case unreadable

    func make(_ blobs: String) throws {
      switch self {
      case .missing: break
      case .empty: try Folder.make(blobs)
      case .file: try Descriptor(writing: blobs, replacing: false).write(Array("disk".utf8))
      case .danglingLink: #expect(symlink("/nonexistent/blobs", blobs) == 0)
      case .unreadable: try Folder.make("\(blobs)/store-id")
      }
    }
  }

  private static let storage = "urn:take5:problem:storage_unavailable"
  private static let database = "urn:take5:problem:database_unavailable"

  @Test(
    "a service that starts without its blobs serves what needs none, and the rest once they are there",
    arguments: Sickness.allCases)
  func blobs(_ sickness: Sickness) async throws {
    let folder = try TemporaryFolder(prefix: "take5-start")
    let first = try await Service(in: folder)
    let photo = [
      ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", try StoreCommandTests.photo((9, 90, 20))),
    ]
    let post = try await first.api().submit("/v1/posts", photo)
    #expect(post["status"]?.text == "ready", "\(first.process.log)")
    #expect(try await first.stop() == 0)
    let (blobs, away) = ("\(first.data)/blobs", "\(folder.path)/away")
    #expect(rename(blobs, away) == 0)
    try sickness.make(blobs)

    let service = try await Service(in: folder)
    #expect(await service.process.waitForLog("waiting for them"), "\(service.process.log)")
    let api = try service.api()
    #expect(try await api.get("/livez").status == 200)
    #expect(try await api.get("/v1/posts").status == 200)
    let text = try await api.send("POST", "/v1/posts", #"{"kind":"marker","author":"ada","title":"Here"}"#)
    #expect(text.status / 100 == 2, "\(text)")
    for (name, response) in [
      ("readyz", try await api.get("/readyz")),
      ("submission", try await api.submit("/v1/posts", photo, headers: [])),
      ("upload", try await Self.create(10, api)),
    ] {
      #expect(response.status == 503 && response["type"]?.text == Self.storage, "\(name) \(response)")
    }
    // Nothing was written in the place of the folder.
    if sickness == .empty { #expect(try Folder.names(in: blobs).isEmpty) }

    try Folder.remove(blobs)
    #expect(rename(away, blobs) == 0)
    try await until { try await api.get("/readyz").status == 200 }
    let submitted = try await api.submit("/v1/posts", photo)
    #expect(submitted["status"]?.text == "ready", "\(service.process.log)")
    #expect(await service.process.waitForLog("the blobs can be used"))
    #expect(try await service.stop() == 0)
  }

  @Test("blobs of another store end a service, at its start and when they are seen later")
  func anotherStore() async throws {
    let service = try await Service(workers: 0)
    #expect(try await service.stop() == 0)
    let (blobs, id) = ("\(service.data)/blobs", PublicID.now())
    try Folder.remove(blobs)
    try Folder.make(blobs)
    let waiting = try await Service(workers: 0, in: service.folder)
    #expect(await waiting.process.waitForLog("waiting for them"))
    try Descriptor(writing: "\(blobs)/store-id", replacing: false).write(Array("\(id)\n".utf8))
    #expect(await waiting.process.wait() == 74)
    #expect(waiting.process.log.contains("\(id)"), "\(waiting.process.log)")
    for command in [["serve", "--listen", "127.0.0.1:0"], ["worker"]] {
      let refused = try await Take5Command.run(command + ["--data", service.data])
      #expect(refused.status == 74 && refused.errors.contains("\(id)"), "\(command): \(refused)")
    }
  }

  @Test(
    "a start that fails when its database is open shuts an embedded one down in order",
    arguments: [
      // The blobs are another store's.
      ("--listen 127.0.0.1:0", true, 74),
      // Other machines reach it, and it has no key.
      ("--listen 0.0.0.0:0", false, 64),
      // The line with the URL cannot be written.
      ("--listen 127.0.0.1:0 >/dev/full", false, 74),
    ] as [(String, Bool, Int32)])
  func failedStart(_ arguments: String, hasOtherBlobs: Bool, _ status: Int32) async throws {
    let folder = try TemporaryFolder(prefix: "take5-start")
    let data = "\(folder.path)/data"
    try await EmptyStore.copy(to: data)
    if hasOtherBlobs {
      try Descriptor(writing: "\(data)/blobs/store-id", replacing: true).write(Array("\(PublicID.now())\n".utf8))
    }
    let command = "exec '\(Take5Binary.path)' serve --data '\(data)' --slots 0 \(arguments)"
    let run = try await Take5Command.run(["-c", command], program: "/bin/sh")
    #expect(run.status == status, "\(run)")
    #expect(access("\(data)/postgres.url", F_OK) != 0)
    let log = String(decoding: try Service.bytes(of: "\(data)/postgres.log"), as: UTF8.self)
    #expect(log.hasSuffix("database system is shut down\n"), "\(log.suffix(500))")
  }

  @Test(
    "a data folder that is missing or may not be used ends a command, and a worker and a service wait for it",
    arguments: [(["worker"], true), (["worker"], false), (["serve", "--listen", "127.0.0.1:0"], false)])
  func dataFolder(_ command: [String], isMissing: Bool) async throws {
    try await withDatabase { database in
      let folder = try TemporaryFolder(prefix: "t5")
      let (data, away) = ("\(folder.path)/data", "\(folder.path)/away")
      let store = ["--data", data, "--database", database.connectionString]
      let made = try await Take5Command.run(["init"] + store)
      try #require(made.status == 0, "\(made)")
      // Root uses no store of another user.
      let isRoot = geteuid() == 0
      let hidden = isMissing ? rename(data, away) : isRoot ? chown(data, 65534, 65534) : chmod(data, 0)
      #expect(hidden == 0)
      let refused = try await Take5Command.run(["verify"] + store)
      #expect(refused.status == (isMissing ? 66 : 74) && refused.errors.contains(data), "\(refused)")

      let process = try RunningTake5()
      _ = try await process.start(command + store + ["--log-format", "text"], printsFirstLine: false)
      #expect(await process.waitForLog("waiting for them"), "\(process.log)")
      #expect(process.log.contains(data))
      let shown = isMissing ? rename(away, data) : isRoot ? chown(data, 0, 0) : chmod(data, 0o700)
      #expect(shown == 0)
      #expect(await process.waitForLog("the blobs can be used"), "\(process.log)")
      await process.send(signal: SIGTERM)
      #expect(await process.wait() == 0, "\(process.log)")
    }
  }

  @Test("a bucket that does not answer delays a start by seconds, and is used once it does")
  func bucket() async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      try await withDatabase { database in
        let more = ["--database", database.connectionString, "--blobs", MemoryBucket.url(port: server.port)]
        bucket.set(.silent)
        let service = try await Service(workers: 0, more, environment: MemoryBucket.keys)
        let api = try service.api()
        #expect(try await api.get("/livez").status == 200)
        #expect(try await api.get("/v1/posts").status == 200)
        let ready = try await api.get("/readyz")
        #expect(ready.status == 503 && ready["type"]?.text == Self.storage, "\(ready)")
        bucket.set(nil)
        try await until { try await api.get("/readyz").status == 200 }
        #expect(try await service.stop() == 0)
      }
    }
  }

  /// The address of a database whose server is reached through a link that does not exist yet, and what makes it.
  private static func hidden(
    _ database: DatabaseURL, in folder: TemporaryFolder
  ) throws -> (text: String, appear: @Sendable () -> Bool) {
    let text = database.connectionString
    let match = try #require(text.firstMatch(of: /host='([^']*)'/), "\(text)")
    let (link, socket) = ("\(folder.path)/s", String(match.1))
    return (text.replacing("host='\(socket)'", with: "host='\(link)'"), { symlink(socket, link) == 0 })
  }

  @Test("a service without its database is live and waits, and is ready when the database comes")
  func serviceWithoutDatabase() async throws {
    try await withDatabase { database in
      let folder = try TemporaryFolder(prefix: "t5")
      let hidden = try Self.hidden(database, in: folder)
      let manager = try NotificationSocket()
      // The line with the URL is printed when it waits.
      let service = try await Service(
        workers: 1, ["--database", hidden.text], environment: [ServiceManager.variable: manager.address], in: folder)
      let notified = try await onThread("manager") { try manager.receive() }
      #expect(notified.hasPrefix("READY=1\nSTATUS=waiting for the database"), "\(notified)")
      #expect(await service.process.waitForLog("the database cannot be used"))
      let api = try service.api()
      #expect(try await api.get("/livez").status == 200)
      for (method, path) in [
        ("GET", "/readyz"), ("GET", "/v1/posts"), ("POST", "/metrics"), ("GET", "/nowhere"), ("POST", "/v1/posts"),
        ("DELETE", "/v1/users/ada"), ("POST", "/livez"),
      ] {
        let response = try await api.send(method, path)
        #expect(response.status == 503 && response["type"]?.text == Self.database, "\(method) \(path) \(response)")
        #expect(response.response.headers["retry-after"] != nil)
      }
      // Without a key, which the service cannot know yet, and therefore nothing about clients.
      let metrics = try await api.get("/metrics")
      let lines = String(decoding: metrics.response.body, as: UTF8.self).split(separator: "\n")
      #expect(metrics.status == 200 && lines.filter { $0.first != "#" } == ["take5_database_up 0"], "\(lines)")
      #expect(hidden.appear())
      try await until { try await api.get("/readyz").status == 200 }
      #expect(try await api.get("/v1/posts").status == 200)
      #expect(try await onThread("manager") { try manager.receive() } == "STATUS=")
      #expect(try await onThread("manager") { try manager.receive() } == "READY=1")
      #expect(await service.process.waitForLog("worker started"))
      #expect(try await service.stop() == 0)
    }
  }

  @Test("pages of an allowed origin read the answers of a service that waits for its database, and no others do")
  func pagesOfWaiting() async throws {
    let folder = try TemporaryFolder(prefix: "t5")
    let service = try await Service(
      workers: 0, ["--database", "host=\(folder.path) dbname=d", "--allow-origin", "https://app.example.org"])
    let api = try service.api()
    let origins: [(String, String?)] = [
      ("https://app.example.org", "https://app.example.org"), ("https://other.org", nil),
    ]
    for (origin, allowed) in origins {
      for (method, path) in [("GET", "/livez"), ("GET", "/v1/posts"), ("POST", "/v1/posts"), ("GET", "/nowhere")] {
        let response = try await request(method, path, port: api.port, headers: [("Origin", origin)])
        #expect(response.headers["access-control-allow-origin"] == allowed, "\(method) \(path) \(response)")
        #expect(response.headers["vary"]?.contains("Origin") == true)
        let exposed = response.headers["access-control-expose-headers"]?.contains("Retry-After") ?? false
        #expect(exposed == (allowed != nil))
      }
      let preflight = try await request(
        "OPTIONS", "/v1/posts", port: api.port,
        headers: [("Origin", origin), ("Access-Control-Request-Method", "POST")])
      #expect(preflight.status == (allowed == nil ? 503 : 204), "\(preflight)")
    }
    #expect(try await service.stop() == 0)
  }

  @Test("a worker without its database waits, and works when the database comes")
  func workerWithoutDatabase() async throws {
    try await withDatabase { database in
      let folder = try TemporaryFolder(prefix: "t5")
      let hidden = try Self.hidden(database, in: folder)
      try await EmptyStore.copy(to: "\(folder.path)/data")
      let manager = try NotificationSocket()
      let worker = try RunningTake5()
      _ = try await worker.start(
        [
          "worker", "--data", "\(folder.path)/data", "--database", hidden.text, "--log-format", "text",
          "--metrics", "127.0.0.1:0",
        ],
        environment: [ServiceManager.variable: manager.address], printsFirstLine: false)
      let notified = try await onThread("manager") { try manager.receive() }
      #expect(notified.hasPrefix("READY=1\nSTATUS=waiting for the database"), "\(notified)")
      #expect(await worker.waitForLog("/metrics"))
      let line = worker.log.split(separator: "\n").first { $0.contains("/metrics") } ?? ""
      let port = try #require(UInt16(line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""), "\(line)")
      let metrics = try await API(port: port).get("/metrics")
      #expect(String(decoding: metrics.response.body, as: UTF8.self).contains("take5_database_up 0"))
      // The service is what creates the schema.
      let made = try await Take5Command.run([
        "init", "--data", "\(folder.path)/data", "--database", database.connectionString,
      ])
      try #require(made.status == 0, "\(made)")
      #expect(hidden.appear())
      #expect(await worker.waitForLog("worker started"), "\(worker.log)")
      await worker.send(signal: SIGTERM)
      #expect(await worker.wait() == 0)
    }
  }

  @Test("a signal ends the wait", arguments: [["serve", "--listen", "127.0.0.1:0"], ["worker"]])
  func signalled(_ command: [String]) async throws {
    let folder = try TemporaryFolder(prefix: "t5")
    try Folder.make("\(folder.path)/data", mode: 0o700)
    let process = try RunningTake5()
    _ = try await process.start(
      command + [
        "--data", "\(folder.path)/data", "--database", "host=\(folder.path) dbname=d", "--log-format", "text",
      ],
      printsFirstLine: false)
    #expect(await process.waitForLog("the database cannot be used"), "\(process.log)")
    await process.send(signal: SIGTERM)
    #expect(await process.wait() == 0, "\(process.log)")
    #expect(process.log.contains("stopping"))
  }

  @Test("a database or a user that the server does not know ends a service and a worker with status 69")
  func permanent() async throws {
    try await withDatabase { database in
      let folder = try TemporaryFolder(prefix: "t5")
      try Folder.make("\(folder.path)/data", mode: 0o700)
      let text = database.connectionString
      let unknownUser = text.replacing(/user='[^']*'/, with: "user='t5_unknown'")
      for address in [database.with(database: "t5_unknown").connectionString, unknownUser] {
        for command in [["serve", "--listen", "127.0.0.1:0"], ["worker"]] {
          let refused = try await Take5Command.run(
            command + ["--data", "\(folder.path)/data", "--database", address])
          #expect(refused.status == 69 && refused.errors.contains("t5_unknown"), "\(command): \(refused)")
        }
      }
    }
  }

  /// Creates an upload by tus.
  private static func create(_ length: Int, _ api: API) async throws -> API.Response {
    API.Response(
      response: try await request(
        "POST", "/v1/uploads", port: api.port,
        headers: [("Tus-Resumable", "1.0.0"), ("Upload-Length", "\(length)")]))
  }

  private static func append(_ bytes: ArraySlice<UInt8>, at offset: Int, to path: String, _ api: API) async throws
    -> Int
  {
    try await request(
      "PATCH", path, port: api.port,
      headers: [
        ("Tus-Resumable", "1.0.0"), ("Upload-Offset", "\(offset)"), ("Content-Type", "application/offset+octet-stream"),
      ], body: Array(bytes)
    ).status
  }

  @Test("uploads go on when the folder of copies is removed: one that is whole, and one that is half")
  func removedCache() async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      try await withDatabase { database in
        let more = ["--database", database.connectionString, "--blobs", MemoryBucket.url(port: server.port)]
        let service = try await Service(workers: 1, more, environment: MemoryBucket.keys)
        let api = try service.api()
        let photos = [try StoreCommandTests.photo((9, 90, 20)), try StoreCommandTests.photo((90, 9, 20))]
        var paths: [String] = []
        for (photo, sent) in zip(photos, [photos[0].count, photos[1].count / 2]) {
          let created = try await Self.create(photo.count, api)
          #expect(created.status == 201, "\(created)")
          let location = try #require(created.response.headers["location"])
          let path = "/v1/uploads/\(location.split(separator: "/").last ?? "")"
          #expect(try await Self.append(photo[..<sent], at: 0, to: path, api) == 204)
          paths.append(path)
        }
        try Folder.remove("\(service.data)/blob-cache")
        let half = photos[1].count / 2
        #expect(try await Self.append(photos[1][half...], at: half, to: paths[1], api) == 204)
        for path in paths {
          let id = path.split(separator: "/").last ?? ""
          let post = try await api.send(
            "POST", "/v1/posts", #"{"kind":"photo","author":"ada","photo":[{"upload":"\#(id)"}]}"#)
          #expect(post.status == 202, "\(post) \(service.process.log)")
          let stored = try #require(post.response.headers["location"])
          try await until { try await api.get(stored)["status"]?.text == "ready" }
        }
        #expect(try await service.stop() == 0)
      }
    }
  }
}
