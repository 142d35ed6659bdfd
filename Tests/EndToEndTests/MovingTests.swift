import Crypto
import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import SeededRandom
import Take5Testing
import Testing
import WaitTesting

/// A store of many blobs that moves from the data folder to a bucket and back while clients read and write. `make test-s3` starts
/// the object store.
@Suite(
  "Moves of a store", .tags(.process), .serialized,
  .enabled(if: getenv("TAKE5_TEST_S3") != nil, "TAKE5_TEST_S3 is not set"),
  .timeLimit(.minutes(60)))
struct MovingTests {
  /// The number of blobs that are files.
  private static let blobs = getenv("TAKE5_TEST_BLOBS").flatMap { Int(String(cString: $0)) } ?? 10_000
  /// Each photo that is sent is a file; what is made of it is one only if it is large.
  private static let photosOfPost = 10
  /// Where the five kills come: within the first transaction, between copies, and before the last transaction.
  private static let kills = [
    "moving.begin_move.after=kill", "moving.files_of_shard.after=kill@30", "moving.files_of_shard.before=kill@90",
    "moving.files_of_shard.after=kill@200", "moving.finish_move.after=kill",
  ]

  /// The services, as a proxy knows them: a request goes to the next one if one is away.
  private struct Fleet: Sendable {
    let folder: TemporaryFolder
    let database: String
    let services = Shared<[Int: Service]>([:])

    var data: String { "\(folder.path)/data" }

    var store: [String] { ["--data", data, "--database", database] }

    /// Starts each service again, one after the other.
    func start(_ more: [String]) async throws {
      for number in 0..<2 {
        if let old = services.withLock({ $0.removeValue(forKey: number) }) { #expect(try await old.stop() == 0) }
        let service = try await Service(
          workers: 1, ["--database", database] + more, environment: BucketTests.keys(), in: folder)
        services.withLock { $0[number] = service }
      }
    }

    func stop() async throws {
      for service in services.withLock({ $0.values.map(\.self) }) { #expect(try await service.stop() == 0) }
    }

    /// Sends a request until a service responds.
    func respond<Response>(_ send: (API) async throws -> Response) async throws -> Response {
      let deadline = Deadline("a service that responds")
      while true {
        try deadline.check()
        for service in services.withLock({ $0.values.map(\.self) }).shuffled() {
          do { return try await send(service.api()) } catch is ClientConnection.Failure {} catch is SystemError {}
        }
      }
    }
  }

  /// A file that clients read.
  private struct Output: Sendable, Hashable {
    let url: String
    let digest: String
  }

  private static func photo(_ random: inout SplitMix64, width: Int, height: Int) throws -> [UInt8] {
    let image = PhotoFixture.image(width: width, height: height) { _, _ in
      let value = random.next()
      return (UInt8(value & 255), UInt8(value >> 8 & 255), UInt8(value >> 16 & 255))
    }
    return try PhotoFixture.jpeg(image)
  }

  /// Submits photos, and waits until the post is ready.
  ///
  /// - Returns: a file that was made of a large one; nil: all are small, and what is made of them is in the database.
  private static func submit(
    _ random: inout SplitMix64, hasLarge: Bool, to fleet: Fleet
  ) async throws -> Output? {
    var parts = [(name: "post", bytes: Array(#"{"kind":"photo","author":"ada"}"#.utf8))]
    if hasLarge { parts.append(("photo", try photo(&random, width: 800, height: 600))) }
    while parts.count <= photosOfPost { parts.append(("photo", try photo(&random, width: 120, height: 90))) }
    let headers = [("Idempotency-Key", "\(PublicID.now())"), ("Prefer", "wait=60")]
    let post = try await fleet.respond { [parts] in try await $0.submit("/v1/posts", parts, headers: headers) }
    #expect(post["status"]?.text == "ready", "\(String(decoding: post.response.body, as: UTF8.self))")
    guard hasLarge else { return nil }
    let url = try #require(post["photos", 0, "photo.large", "url"]?.text)
    let file = try await fleet.respond { try await $0.get(url) }
    #expect(file.response.body.count > 256 << 10)
    return Output(url: url, digest: SHA256.digest(of: file.response.body).hex)
  }

  @Test(
    "10,000 blobs move to a bucket and back, killed five times each way: every read is answered right, and nothing is lost"
  )
  func move() async throws {
    try await withDatabase { database in
      let folder = try TemporaryFolder(prefix: "take5-moving")
      let fleet = Fleet(folder: folder, database: database.connectionString)
      let bucket = BucketTests.url()
      try await fleet.start([])
      let outputs = Shared<[Output]>([])
      var random = SplitMix64(seed: 1)
      for number in 0..<Self.blobs / Self.photosOfPost {
        let output = try await Self.submit(&random, hasLarge: number % 10 == 0, to: fleet)
        if let output { outputs.withLock { $0.append(output) } }
      }
      try await Self.underLoad(fleet, outputs) { try await Self.move(fleet, [], to: bucket) }
      // What lies in the folder is not needed any more.
      for name in try Folder.names(in: "\(fleet.data)/blobs") where name.count == 2 {
        let shard = "\(fleet.data)/blobs/\(name)"
        for file in try Folder.names(in: shard) { #expect(unlink("\(shard)/\(file)") == 0) }
      }
      try await Self.verify(fleet, ["--blobs", bucket])
      try await Self.underLoad(fleet, outputs) { try await Self.move(fleet, ["--blobs", bucket], to: "folder") }
      for output in outputs.withLock(\.self) {
        let file = try await fleet.respond { try await $0.get(output.url) }
        #expect(SHA256.digest(of: file.response.body).hex == output.digest)
      }
      try await fleet.stop()
      try await Self.verify(fleet, [])
    }
  }

  /// Reads and submits without a pause until `body` ends; every answer must be right.
  private static func underLoad(
    _ fleet: Fleet, _ outputs: Shared<[Output]>, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let isDone = CancellationFlag()
    let reads = Shared(0)
    let seed = outputs.withLock { UInt64($0.count) }
    try await withThrowingTaskGroup { group in
      group.addTask {
        var random = SplitMix64(seed: seed)
        let deadline = Deadline("the end of a move", within: .seconds(1800))
        while !isDone.isCancelled {
          try deadline.check()
          let output = outputs.withLock { $0[Int(random.next() % UInt64($0.count))] }
          let file = try await fleet.respond { try await $0.get(output.url) }
          #expect(file.status == 200 && SHA256.digest(of: file.response.body).hex == output.digest, "\(output.url)")
          reads.withLock { $0 += 1 }
        }
      }
      group.addTask {
        var random = SplitMix64(seed: seed + 1)
        let deadline = Deadline("the end of a move", within: .seconds(1800))
        while !isDone.isCancelled {
          try deadline.check()
          let output = try await submit(&random, hasLarge: true, to: fleet)
          if let output { outputs.withLock { $0.append(output) } }
        }
      }
      group.addTask {
        defer { isDone.cancel() }
        try await body()
      }
      try await group.waitForAll()
    }
    #expect(reads.withLock(\.self) > 0)
  }

  /// Moves the store as docs/object-store.md says.
  private static func move(_ fleet: Fleet, _ blobs: [String], to target: String) async throws {
    try await fleet.start(blobs + ["--blobs-next", target])
    for kill in kills {
      let run = try await Take5Command.run(
        ["blobs", "move", "--to", target] + blobs + fleet.store,
        environment: BucketTests.keys().merging(["TAKE5_FAILPOINTS": kill]) { one, _ in one })
      #expect(run.status == nil, "\(kill): \(run.output)\(run.errors)")
    }
    let run = try await Take5Command.run(
      ["blobs", "move", "--to", target, "--json"] + blobs + fleet.store, environment: BucketTests.keys())
    #expect(run.status == 0 && run.output.contains("\"moved\":true"), "\(run.output)\(run.errors)")
    try await fleet.start(["--blobs", target])
  }

  private static func verify(_ fleet: Fleet, _ blobs: [String]) async throws {
    let verified = try await Take5Command.run(
      ["verify", "--deep"] + blobs + fleet.store, environment: BucketTests.keys())
    #expect(verified.status == 0, "\(verified.output.suffix(2000)) \(verified.errors)")
  }
}
