import Blobs
import Crypto
import Glibc
import HTTPServer
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing

@testable import ObjectStore

@Suite("Copies of objects on a machine", .timeLimit(.minutes(15)))
struct CopyTests {
  private static let content = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
  private static let hash = SHA256.digest(of: content)
  private static let length = Int64(content.count)

  /// Runs a test with the store of a bucket that has one object, and the number of requests for it.
  private static func with(
    _ body: @escaping @Sendable (ObjectBlobStore, _ requests: Shared<Int>) throws -> Void
  ) async throws {
    let requests = Shared(0)
    let id = PublicID.now()
    let router = Router(
      routes: [
        Route("GET", "/bucket/{key}", admission: Route.open) { _ in
          Response(.ok, body: .bytes(Array("\(id)\n".utf8)))
        },
        Route("GET", "/bucket/{shard}/{key}", admission: Route.open) { _ in
          requests.withLock { $0 += 1 }
          return Response(.ok, body: .bytes(content))
        },
      ], fallbackAdmission: Route.open)
    try await withServer(ServerConfiguration(), router: router) { server in
      let client = S3Client(
        try S3Location("s3://bucket?endpoint=http://127.0.0.1:\(server.port)"),
        credentials: { S3Credentials(keyID: "id", secret: "secret") })
      try await onThread("client") {
        let folder = try TemporaryFolder()
        try body(try ObjectBlobStore(client, folder: "\(folder.path)/cache", limit: 1 << 30), requests)
      }
    }
  }

  /// Overwrites a part of the copy, or shortens it.
  private static func damage(_ store: ObjectBlobStore, to length: Int? = nil) throws {
    let path = store.cache.store.location(of: hash)
    try #require(chmod(path, 0o600) == 0)
    if let length {
      try #require(truncate(path, length) == 0)
    } else {
      let file = try #require(fopen(path, "r+"))
      fputs("rotten", file)
      fclose(file)
    }
  }

  @Test("a copy that is to be verified is compared with its hash: a damaged one is dropped and fetched again")
  func verified() async throws {
    try await Self.with { store, requests in
      for expected in [1, 1] {
        #expect(try store.openVerified(Self.hash, bytes: Self.length).contents() == Self.content)
        #expect(requests.withLock(\.self) == expected)
      }
      for (index, length) in [nil, 10].enumerated() {
        try Self.damage(store, to: length)
        #expect(try store.openVerified(Self.hash, bytes: Self.length).contents() == Self.content)
        // What is read next is a copy that is right.
        #expect(try store.open(Self.hash, bytes: Self.length).contents() == Self.content)
        #expect(requests.withLock(\.self) == index + 2)
      }
    }
  }

  @Test("a damaged copy is no damage of the blob, and is dropped when the blob is checked")
  func checked() async throws {
    try await Self.with { store, _ in
      for length in [nil, 10] {
        _ = try store.open(Self.hash).number
        try Self.damage(store, to: length)
        #expect(try store.damage(of: Self.hash, bytes: Self.length) == nil)
        #expect(try store.open(Self.hash, bytes: Self.length).contents() == Self.content)
      }
    }
  }
}
