import BlobTesting
import Blobs
import Crypto
import HTTPServer
import HTTPTesting
import Platform
import PostgresTesting
import Testing

@testable import ObjectStore

/// A bucket in memory.
private final class MemoryBucket: Sendable {
  private let objects = Locked<[String: [UInt8]]>([:])
  private let log = Locked<[String]>([])

  static func with(_ body: @Sendable (MemoryBucket, ObjectBlobStore) async throws -> Void) async throws {
    let bucket = MemoryBucket()
    let routes = ["/bucket/{key}", "/bucket/{shard}/{key}"].flatMap { template in
      ["GET", "PUT", "DELETE"].map { method in
        Route(method, template, bodyLimit: 1 << 20, admission: Route.open) { try await bucket.respond(to: $0) }
      }
    }
    try await withServer(router: Router(routes: routes, fallbackAdmission: Route.open)) { server in
      let folder = try TemporaryFolder()
      let client = S3Client(
        try S3Location("s3://bucket?endpoint=http://127.0.0.1:\(server.port)"),
        credentials: { S3Credentials(keyID: "id", secret: "secret") })
      let store = try await onThread("client") {
        try ObjectBlobStore(client, folder: "\(folder.path)/cache", limit: 1 << 20)
      }
      try await body(bucket, store)
    }
  }

  private func respond(to request: Request) async throws -> Response {
    let path = request.target.segments.joined(separator: "/")
    log.withLock { $0.append(request.method) }
    switch request.method {
    case "PUT":
      let content = try await request.body.collect(upTo: 1 << 20)
      objects.withLock { $0[path] = content }
      return Response(.ok)
    case "DELETE":
      objects.withLock { $0[path] = nil }
      return Response(.noContent)
    default:
      guard let content = objects.withLock({ $0[path] }) else { return Response(.notFound) }
      return Response(.ok, body: .bytes(content))
    }
  }

  /// Removes all objects, as a collector does.
  func clear() { objects.withLock { $0 = [:] } }

  /// Returns the methods of the requests since the last call.
  func requests() -> [String] {
    log.withLock { log in
      defer { log = [] }
      return log
    }
  }
}

@Suite("Publication in a bucket", .timeLimit(.minutes(15)))
struct PublishingTests {
  @Test("in a transaction the bucket is asked once for a prepared blob; one that is gone is written before another one")
  func transaction() async throws {
    try await MemoryBucket.with { bucket, store in
      let blob = try await onThread("client") { try store.seal(Array("content".utf8)) }
      #expect(bucket.requests().suffix(2) == ["HEAD", "PUT"])
      let publish = { @Sendable (isReplacing: Bool) in
        try await onThread("client") { try CriticalSection.run { try store.publish(blob, replacing: isReplacing) } }
      }
      try await publish(false)
      #expect(bucket.requests() == ["HEAD"])
      bucket.clear()
      await #expect(throws: BlobError.self) { try await publish(false) }
      #expect(bucket.requests() == ["HEAD"])
      try await onThread("client") { try store.prepare(blob) }
      try await publish(false)
      #expect(bucket.requests() == ["HEAD", "PUT", "HEAD"])
      // A damaged one is replaced before the transaction that publishes it.
      try await onThread("client") { try store.prepare(blob, replacing: true) }
      try await publish(true)
      #expect(bucket.requests() == ["HEAD", "PUT", "HEAD"])
    }
  }
}
