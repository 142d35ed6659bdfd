import BlobTesting
import Blobs
import Crypto
import HTTPServer
import HTTPTesting
import Platform
import PostgresTesting
import Testing

@testable import ObjectStore

extension MemoryBucket {
  fileprivate static func with(_ body: @Sendable (MemoryBucket, ObjectBlobStore) async throws -> Void) async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      let folder = try TemporaryFolder()
      let client = S3Client(
        try S3Location(url(port: server.port)), credentials: { S3Credentials(keyID: "id", secret: "secret") })
      let store = try await onThread("client") {
        try ObjectBlobStore(client, folder: "\(folder.path)/cache", limit: 1 << 20)
      }
      try await body(bucket, store)
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
