import BlobTesting
import Crypto
import Glibc
import HTTPClient
import HTTPServer
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing

@testable import Blobs

/// The real store of Tests/s3/store.sh, which `make test-s3` starts.
enum TestBucket {
  static let url = getenv("TAKE5_TEST_S3").map { String(cString: $0) }

  static func credentials() throws -> S3Credentials {
    try S3CredentialSource(environment: [
      "AWS_ACCESS_KEY_ID": String(cString: getenv("AWS_ACCESS_KEY_ID")),
      "AWS_SECRET_ACCESS_KEY": String(cString: getenv("AWS_SECRET_ACCESS_KEY")),
    ]).credentials()
  }

  /// A client of the store with a prefix of its own.
  ///
  /// - Parameters:
  ///   - port: of a proxy before the store; nil: the store itself.
  ///   - secret: another secret than the right one.
  static func client(
    _ prefix: String = "\(PublicID.now())", port: UInt16? = nil, secret: String? = nil, skew: Int = 0,
    partBytes: Int64 = 16 << 20, uploadSeconds: Int = 24 * 60 * 60, attempts: Int = 8
  ) throws -> S3Client {
    var text = try #require(url)
    text = text.replacing("/store?", with: "/\(prefix)?")
    if let port { text = text.replacing(":\(try S3Location(text).endpoint.port)", with: ":\(port)") }
    let keys = try credentials()
    var retries = S3Client.Retries()
    retries.firstPause = .milliseconds(1)
    retries.attempts = attempts
    return S3Client(
      try S3Location(text),
      credentials: { S3Credentials(keyID: keys.keyID, secret: secret ?? keys.secret) }, retries: retries,
      partBytes: partBytes, uploadSeconds: uploadSeconds, now: { time(nil) + skew })
  }
}

@Suite("Blobs in a bucket", .enabled(if: TestBucket.url != nil, "TAKE5_TEST_S3 is not set"), .timeLimit(.minutes(60)))
struct ObjectBlobStoreTests {
  private static func store(_ client: S3Client, in folder: TemporaryFolder, limit: Int64 = 1 << 30) throws
    -> ObjectBlobStore
  {
    try ObjectBlobStore(client, folder: "\(folder.path)/cache", uploads: "\(folder.path)/uploads", limit: limit)
  }

  private static func seal(_ bytes: [UInt8], in store: ObjectBlobStore) throws -> SealedBlob {
    var staged = try store.stage()
    try bytes.withUnsafeBytes { try staged.append($0) }
    return try staged.seal()
  }

  private static func bytes(_ count: Int, _ seed: Int = 7) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* seed &+ $0 >> 8) }
  }

  @Test("it passes the checks of every blob store")
  func conformance() throws {
    let folder = try TemporaryFolder()
    try BlobStoreConformance(store: try Self.store(TestBucket.client(), in: folder)).check()
  }

  @Test("another machine reads what one has written, keeps copies up to a limit, and its store has the same id")
  func machines() throws {
    let prefix = "\(PublicID.now())"
    let (here, there) = (try TemporaryFolder(), try TemporaryFolder())
    let one = try Self.store(TestBucket.client(prefix), in: here)
    let other = try Self.store(TestBucket.client(prefix), in: there, limit: 1_000_000)
    #expect(one.id == other.id)
    let blobs = try (1...6).map { try Self.seal(Self.bytes(300_000, $0), in: one) }
    for blob in blobs {
      try one.prepare(blob)
      try one.publish(blob)
    }
    for blob in blobs { #expect(try other.open(blob.hash).contents() == blob.content()) }
    let copies = try (0..<256).reduce(0) { $0 + (try other.cache.store.listing(ofShard: $1).blobs.count) }
    #expect(1...3 ~= copies)
    var listed: Set<SHA256Digest> = []
    for shard in 0..<other.shards { listed.formUnion(try other.listing(ofShard: shard).blobs.keys) }
    #expect(listed == Set(blobs.map(\.hash)))
    #expect(try other.remove(blobs[0].hash))
    #expect(throws: BlobError.missing(blobs[5].hash)) {
      try one.remove(blobs[5].hash)
      _ = try one.open(blobs[5].hash).number
    }
  }

  @Test("an object that another program has changed is found, is never read as the blob, and is replaced")
  func damage() throws {
    let folder = try TemporaryFolder()
    let client = try TestBucket.client()
    let store = try Self.store(client, in: folder)
    let blob = try Self.seal(Self.bytes(70_000), in: store)
    try store.publish(blob)
    let key = client.location.key("\(blob.hash.hex.prefix(2))/\(blob.hash.hex)")
    try client.put(key, Self.bytes(70_000, 3))
    #expect(try store.damage(of: blob.hash, bytes: 70_000) == .corrupt)
    // It has a copy, which a verification must not take for the object.
    #expect(try store.open(blob.hash).contents() == blob.content())
    #expect(try store.openUncached(blob.hash).contents() == Self.bytes(70_000, 3))
    let empty = try TemporaryFolder()
    let reader = try Self.store(client, in: empty)
    #expect(throws: BlobError.damaged(blob.hash, .corrupt)) { _ = try reader.open(blob.hash).number }
    try store.publish(blob, replacing: true)
    #expect(try store.damage(of: blob.hash, bytes: 70_000) == nil)
    #expect(try reader.open(blob.hash).contents() == blob.content())
    try client.remove(key)
    #expect(try store.damage(of: blob.hash, bytes: 70_000) == .missing)
    #expect(throws: BlobError.missing(blob.hash)) { _ = try store.openUncached(blob.hash).number }
  }

  @Test("the store refuses bytes with another hash, and a blob that exists is not written again")
  func verification() throws {
    let folder = try TemporaryFolder()
    let client = try TestBucket.client()
    let store = try Self.store(client, in: folder)
    let blob = try Self.seal(Self.bytes(1000), in: store)
    let file = OpenFile(try blob.duplicate())
    let other = SHA256.digest(of: [1])
    let refusal = #expect(throws: S3Error.self) {
      try client.put("wrong", file, bytes: 1000, hash: other, onlyNew: false)
    }
    #expect(refusal?.status == 400, "\(String(describing: refusal))")
    #expect(try client.put("right", file, bytes: 1000, hash: blob.hash, onlyNew: true))
    // A store without conditional writes has written the same bytes again.
    try client.put("right", file, bytes: 1000, hash: blob.hash, onlyNew: true)
    #expect(try client.get("right") == blob.content())
    try client.remove("right")
  }

  @Test("a wrong secret is a refusal with its reason, and a clock that is an hour wrong is set by the store's")
  func credentials() throws {
    let client = try TestBucket.client(secret: "wrong")
    let error = #expect(throws: BlobError.self) { try ObjectBlobStore.id(of: client) }
    guard case .refused("403 SignatureDoesNotMatch", let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("SignatureDoesNotMatch"), "\(reason)")
    for skew in [-3600, 3600] {
      let folder = try TemporaryFolder()
      let store = try Self.store(TestBucket.client(skew: skew), in: folder)
      let blob = try Self.seal(Self.bytes(500), in: store)
      try store.publish(blob)
      #expect(try store.contains(blob.hash))
    }
  }

  @Test("connections that are cut in the middle of a body, or before a response, cost a repetition and nothing else")
  func cuts() throws {
    let prefix = "\(PublicID.now())"
    let port = try S3Location(try #require(TestBucket.url)).endpoint.port
    let folder = try TemporaryFolder()
    let direct = try Self.store(TestBucket.client(prefix), in: folder)
    let content = Self.bytes(400_000)
    let faults: [([Int], String?)] = [([100], nil), ([200_000], nil), ([300, 150_000], nil), ([], "HTTP/1.1 200")]
    for (index, (cuts, lost)) in faults.enumerated() {
      let proxy = try CuttingProxy(before: port, cuts: cuts, losing: lost)
      let far = try TemporaryFolder()
      let store = try ObjectBlobStore(
        TestBucket.client(prefix, port: proxy.port), folder: "\(far.path)/c", uploads: "\(far.path)/uploads",
        limit: 1 << 30)
      let blob = try Self.seal(content + [UInt8(index)], in: store)
      try store.publish(blob)
      #expect(proxy.remainingCuts == 0)
      #expect(try direct.open(blob.hash).contents() == blob.content())
      proxy.stop()
    }
  }

  @Test("a large blob is sent in parts: a cut costs a part, and a lost response to the last request costs nothing")
  func parts() throws {
    let port = try S3Location(try #require(TestBucket.url)).endpoint.port
    let folder = try TemporaryFolder()
    let prefix = "\(PublicID.now())"
    let content = Self.bytes(1_050_000)
    let proxy = try CuttingProxy(before: port, cuts: [250_000, 720_000], losing: "CompleteMultipartUploadResult")
    let store = try Self.store(TestBucket.client(prefix, port: proxy.port, partBytes: 100_000), in: folder)
    let blob = try Self.seal(content, in: store)
    try store.prepare(blob)
    try store.publish(blob)
    #expect(proxy.remainingCuts == 0)
    #expect(proxy.forwarded < 1_350_000)
    proxy.stop()
    let far = try TemporaryFolder()
    let reader = try Self.store(TestBucket.client(prefix, uploadSeconds: -60), in: far)
    #expect(try reader.open(blob.hash).contents() == content)
    #expect(try reader.listing(ofShard: Int(blob.hash.bytes[0])).blobs == [blob.hash: 1_050_000])
    #expect(try reader.stagedOrphans().isEmpty)
  }

  @Test(
    "a blob whose writer is gone after half of its parts does not exist, is written by another, and its parts are removed"
  )
  func halfWritten() throws {
    let port = try S3Location(try #require(TestBucket.url)).endpoint.port
    let prefix = "\(PublicID.now())"
    let (here, there) = (try TemporaryFolder(), try TemporaryFolder())
    let proxy = try CuttingProxy(before: port, cuts: [500_000], holdsAtLast: true)
    let gone = try Self.store(TestBucket.client(prefix, port: proxy.port, partBytes: 100_000, attempts: 2), in: here)
    let blob = try Self.seal(Self.bytes(1_000_000), in: gone)
    #expect(throws: BlobError.self) { try gone.publish(blob) }
    proxy.stop()
    let store = try Self.store(TestBucket.client(prefix, partBytes: 100_000), in: there)
    #expect(try !store.contains(blob.hash))
    #expect(try store.listing(ofShard: Int(blob.hash.bytes[0])) == BlobListing())
    try store.publish(try Self.seal(Self.bytes(1_000_000), in: store))
    // It began a moment ago: its writer may be at work.
    #expect(try store.stagedOrphans().isEmpty)
    let later = try Self.store(TestBucket.client(prefix, uploadSeconds: -60), in: there)
    #expect(try later.stagedOrphans().map(\.path).allSatisfy { $0.hasSuffix(blob.hash.hex) })
    #expect(try later.removeStagedOrphans().count == 1)
    #expect(try later.stagedOrphans().isEmpty)
    #expect(try later.damage(of: blob.hash, bytes: 1_000_000) == nil)
  }

  @Test("a file that changes while its parts are sent becomes no object")
  func changedFile() throws {
    let folder = try TemporaryFolder()
    let client = try TestBucket.client(partBytes: 100_000, uploadSeconds: -60)
    let store = try Self.store(client, in: folder)
    let blob = try Self.seal(Self.bytes(300_000), in: store)
    #expect(throws: S3Error.self) {
      try client.put(
        client.location.key("changed"), OpenFile(try blob.duplicate()), bytes: 300_000, hash: SHA256.digest(of: [1]),
        onlyNew: false)
    }
    #expect(try client.length(of: client.location.key("changed")) == nil)
    #expect(try store.stagedOrphans().isEmpty)
  }
}

@Suite("Repetition of requests to an object store", .timeLimit(.minutes(60)))
struct RetryTests {
  /// A server that refuses a number of requests before it answers.
  private static func with(
    refusals: Int, _ status: Status, _ code: String,
    onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in },
    _ body: @Sendable (S3Client, borrowing Locked<[Duration]>) async throws -> Void
  ) async throws {
    let seen = Locked(0)
    let route = Route("GET", "/bucket/{key}", admission: Route.open) { _ in
      let number = seen.withLock { count in
        count += 1
        return count
      }
      guard number > refusals else {
        let text = "<Error><Code>\(code)</Code><Message>Wait</Message></Error>"
        return Response(status, headers: ["Content-Type": "application/xml"], body: .bytes(Array(text.utf8)))
      }
      return Response(.ok, body: .bytes(Array("found".utf8)))
    }
    let router = Router(routes: [route], fallbackAdmission: Route.open)
    try await withServer(ServerConfiguration(), router: router) { server in
      let pauses = Locked<[Duration]>([])
      var retries = S3Client.Retries()
      retries.sleep = { pause in pauses.withLock { $0.append(pause) } }
      let client = S3Client(
        try S3Location("s3://bucket?endpoint=http://127.0.0.1:\(server.port)"),
        credentials: { S3Credentials(keyID: "id", secret: "secret") }, retries: retries,
        onExchange: onExchange)
      try await body(client, pauses)
    }
  }

  @Test("a store that is slowed down gets its requests again, each after a longer pause")
  func slowDown() async throws {
    try await Self.with(refusals: 4, .serviceUnavailable, "SlowDown") { client, pauses in
      let found = try await onThread("client") { try client.get("key") }
      #expect(found == Array("found".utf8))
      let waited = pauses.withLock(\.self)
      #expect(waited.count == 4)
      for (index, pause) in waited.enumerated() {
        let full = Duration.milliseconds(100 << (index + 1))
        #expect(full / 2...full ~= pause, "\(waited)")
      }
    }
  }

  @Test("each attempt of a request is reported with its operation and its result")
  func exchanges() async throws {
    let seen = Shared<[S3Exchange]>([])
    let note: @Sendable (S3Exchange) -> Void = { exchange in seen.withLock { $0.append(exchange) } }
    try await Self.with(refusals: 2, .serviceUnavailable, "SlowDown", onExchange: note) { client, _ in
      _ = try await onThread("client") { try client.get("key") }
      // The server has no route for another method and for the bucket itself.
      _ = try? await onThread("client") { try client.put("key", []) }
      _ = try? await onThread("client") { try client.list("") { _, _, _ in } }
    }
    try await Self.with(refusals: 1, .notFound, "NoSuchKey", onExchange: note) { client, _ in
      _ = try? await onThread("client") { try client.get("key") }
    }
    var retries = S3Client.Retries()
    retries.attempts = 1
    let client = S3Client(
      try S3Location("s3://bucket?endpoint=http://127.0.0.1:1"),
      credentials: { S3Credentials(keyID: "id", secret: "secret") }, retries: retries, onExchange: note)
    _ = try? await onThread("client") { try client.get("key") }
    let found = seen.withLock(\.self)
    #expect(
      found.map { "\($0.operation) \($0.result)" }
        == [
          "get throttled", "get throttled", "get ok", "put refused", "list missing", "get missing", "get unreachable",
        ])
    #expect(found.allSatisfy { $0.start <= $0.end })
  }

  @Test("the attempts are limited, and a refusal of the request itself is not repeated")
  func limits() async throws {
    try await Self.with(refusals: 99, .serviceUnavailable, "SlowDown") { client, pauses in
      let error = await #expect(throws: S3Error.self) { try await onThread("client") { try client.get("key") } }
      #expect(error?.status == 503 && error?.description.contains("SlowDown") == true)
      #expect(pauses.withLock(\.count) == S3Client.Retries().attempts - 1)
    }
    try await Self.with(refusals: 99, .forbidden, "AccessDenied") { client, pauses in
      await #expect(throws: S3Error.self) { try await onThread("client") { try client.get("key") } }
      #expect(pauses.withLock(\.count) == 0)
    }
  }

  @Test("a request that removes an object is not repeated, nor is the question before it")
  func removing() async throws {
    try await Self.with(refusals: 99, .serviceUnavailable, "SlowDown") { client, pauses in
      await #expect(throws: S3Error.self) { try await onThread("client") { try client.remove("key") } }
      let length = { @Sendable in try client.length(of: "key", isHasty: true) }
      let error = await #expect(throws: S3Error.self) { try await onThread("client", length) }
      #expect(error?.status == 503)
      #expect(pauses.withLock(\.count) == 0)
    }
  }

  @Test("a store that fails for long gets no more than its budget of repetitions")
  func budget() async throws {
    try await Self.with(refusals: 10_000, .serviceUnavailable, "SlowDown") { client, pauses in
      for _ in 0..<30 {
        await #expect(throws: S3Error.self) { try await onThread("client") { try client.get("key") } }
      }
      #expect(pauses.withLock(\.count) == 100)
    }
  }
}
