import BlobTesting
import Crypto
import HTTPServer
import HTTPTesting
import Platform
import PostgresTesting
import Testing

@testable import Blobs

/// Stores, and the servers before them, do what the protocol allows and few expect.
@Suite("Manners of stores", .timeLimit(.minutes(60)))
struct StoreMannersTests {
  private static let partBytes: Int64 = 1000
  private static let small = [UInt8](repeating: 7, count: 300)
  /// In three parts.
  private static let large = (0..<2500).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  private static func with(
    _ manner: MemoryBucket.Manner?, _ body: @Sendable (MemoryBucket, ObjectBlobStore) async throws -> Void
  ) async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      let folder = try TemporaryFolder()
      var retries = S3Client.Retries()
      retries.sleep = { _ in }
      let client = S3Client(
        try S3Location(MemoryBucket.url(port: server.port)),
        credentials: { S3Credentials(keyID: "id", secret: "secret") },
        retries: retries, partBytes: partBytes)
      let store = try await onThread("client") {
        try ObjectBlobStore(client, folder: "\(folder.path)/cache", uploads: "\(folder.path)/uploads", limit: 1 << 20)
      }
      bucket.take(manner)
      _ = bucket.requests()
      try await body(bucket, store)
    }
  }

  /// Writes a blob with a bucket of a manner; returns the requests.
  private static func requests(_ manner: MemoryBucket.Manner?, writing bytes: [UInt8]) async throws -> [String] {
    let found = Shared<[String]>([])
    try await with(manner) { bucket, store in
      let hash = SHA256.digest(of: bytes)
      try await onThread("client") { try store.publish(store.seal(bytes)) }
      found.withLock { $0 = bucket.requests() }
      #expect(bucket.content(of: "\(hash.hex.prefix(2))/\(hash.hex)") == bytes)
      #expect(try await onThread("client") { try store.damage(of: hash, bytes: Int64(bytes.count)) } == nil)
    }
    return found.withLock(\.self)
  }

  @Test(
    "a blob is written whatever the manners of the store, and costs what was not done alone",
    arguments: [
      (.wantsLength, [], []), (.conflicts, ["PUT"], ["POST"]), (.failsLate, [], ["POST"]),
      (.completesLate, [], ["POST", "HEAD"]), (.failsInBody, ["PUT"], ["PUT"]), (.failsInList, [], []),
      (.isAway, [], []),
      // The upload begins again.
      (.losesUpload, [], ["DELETE", "HEAD", "POST", "POST", "PUT", "PUT", "PUT"]),
    ] as [(MemoryBucket.Manner, [String], [String])])
  func writing(manner: MemoryBucket.Manner, ofSmall: [String], ofLarge: [String]) async throws {
    for (bytes, more) in [(Self.small, ofSmall), (Self.large, ofLarge)] {
      let plain = try await Self.requests(nil, writing: bytes)
      #expect(try await Self.requests(manner, writing: bytes).sorted() == (plain + more).sorted(), "\(bytes.count)")
    }
  }

  @Test("a list that is an error is read again, and one that is none is no empty one")
  func lists() async throws {
    for (manner, requests) in [(nil, 1), (.failsInList, 2)] as [(MemoryBucket.Manner?, Int)] {
      try await Self.with(manner) { bucket, store in
        let blob = try await onThread("client") { try store.seal(Self.small) }
        try await onThread("client") { try store.publish(blob) }
        _ = bucket.requests()
        let listing = try await onThread("client") { try store.listing(ofShard: Int(blob.hash.bytes[0])) }
        #expect(listing.blobs == [blob.hash: blob.bytes] && bucket.requests().count == requests)
      }
    }
    try await Self.with(.isAway) { _, store in
      for list in [{ _ = try store.listing(ofShard: 7) }, { _ = try store.stagedOrphans() }]
        as [@Sendable () throws -> Void]
      {
        await #expect(throws: BlobError.self) { try await onThread("client") { try list() } }
      }
    }
  }

  @Test(
    "a write that the keys have no right for is one request and no outage, and the store is not ready until one succeeds"
  )
  func withoutRights() async throws {
    try await Self.with(.refusesWrites) { bucket, store in
      for check in [{ try store.publish(store.seal(Self.small)) }, { try store.checkRemote() }]
        as [@Sendable () throws -> Void]
      {
        let error = await #expect(throws: BlobError.self) { try await onThread("client") { try check() } }
        guard case .refused("403 AccessDenied", _) = error else {
          Issue.record("\(error as Any)")
          continue
        }
      }
      #expect(bucket.requests() == ["HEAD", "PUT", "GET"])
      bucket.take(nil)
      try await onThread("client") {
        try store.publish(store.seal(Self.small))
        try store.checkRemote()
      }
    }
  }

  @Test("new objects are kept as the location says, and nothing else is asked with it")
  func keeping() async throws {
    let requests = Shared<[String]>([])
    let router = Router(
      routes: ["GET", "HEAD", "PUT", "POST"].map { method in
        Route(method, "/bucket/{key}", bodyLimit: 10_000, admission: Route.open) { request in
          let kept = [
            "x-amz-storage-class", "x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id",
          ]
          .compactMap { request.headers[$0] }
          let query = request.target.query.map(\.name).sorted().joined(separator: "&")
          requests.withLock { $0.append("\(method) \(query): \(kept.joined(separator: " "))") }
          let body = query == "uploads" ? "<I><UploadId>1</UploadId></I>" : ""
          return Response(.ok, headers: ["ETag": "\"1\""], body: .bytes(Array(body.utf8)))
        }
      }, fallbackAdmission: Route.open)
    try await withServer(router: router) { server in
      let url =
        MemoryBucket.url(port: server.port) + "&class=STANDARD_IA&encryption=aws:kms&kms-key=arn:aws:kms:a:1:key/2"
      let client = S3Client(
        try S3Location(url), credentials: { S3Credentials(keyID: "id", secret: "secret") }, partBytes: Self.partBytes)
      let folder = try TemporaryFolder()
      let path = "\(folder.path)/large"
      try Descriptor(writing: path, replacing: true).write(Self.large)
      try await onThread("client") {
        try client.put("small", Self.small)
        _ = try client.get("small")
        let file = OpenFile(try Descriptor(reading: path))
        try client.put("large", file, bytes: 2500, hash: SHA256.digest(of: Self.large), onlyNew: false)
      }
    }
    let kept = "STANDARD_IA aws:kms arn:aws:kms:a:1:key/2"
    #expect(
      requests.withLock(\.self) == [
        "PUT : \(kept)", "GET : ", "POST uploads: \(kept)", "PUT partNumber&uploadId: ", "PUT partNumber&uploadId: ",
        "PUT partNumber&uploadId: ", "POST uploadId: ",
      ])
    #expect(throws: S3Location.Invalid.self) { try S3Location("s3://bucket?kms-key=1") }
  }

  @Test("a refusal that no repetition mends is one request, and names its status and code")
  func refused() async throws {
    let requests = Shared(0)
    let router = Router(
      routes: [
        Route("PUT", "/bucket/{key}", bodyLimit: 10, admission: Route.open) { _ in
          requests.withLock { $0 += 1 }
          return MemoryBucket.error("MissingContentLength", Status(code: 411, phrase: "Length Required"))
        }
      ], fallbackAdmission: Route.open)
    try await withServer(router: router) { server in
      let client = S3Client(
        try S3Location(MemoryBucket.url(port: server.port)),
        credentials: { S3Credentials(keyID: "id", secret: "secret") })
      let error = await #expect(throws: S3Error.self) {
        try await onThread("client") { try client.put("key", [1], onlyNew: true) }
      }
      #expect(
        error?.description.contains("PUT key: status 411 (MissingContentLength, Wait)") == true, "\(error as Any)")
      #expect(requests.withLock(\.self) == 1)
    }
  }
}
