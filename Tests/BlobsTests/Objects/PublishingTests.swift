import BlobTesting
import Crypto
import HTTPServer
import HTTPTesting
import Platform
import PostgresTesting
import Testing

@testable import Blobs

extension MemoryBucket {
  fileprivate static func with(_ body: @Sendable (MemoryBucket, ObjectBlobStore) async throws -> Void) async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      let folder = try TemporaryFolder()
      let client = S3Client(
        try S3Location(url(port: server.port)), credentials: { S3Credentials(keyID: "id", secret: "secret") })
      let store = try await onThread("client") {
        try ObjectBlobStore(client, folder: "\(folder.path)/cache", uploads: "\(folder.path)/uploads", limit: 1 << 20)
      }
      try await body(bucket, store)
    }
  }
}

@Suite("Publication in a bucket", .timeLimit(.minutes(60)))
struct PublishingTests {
  @Test("the bucket is asked once for a prepared blob; one that is gone, or damaged, is written again")
  func publication() async throws {
    try await MemoryBucket.with { bucket, store in
      let blob = try await onThread("client") { try store.seal(Array("content".utf8)) }
      #expect(bucket.requests().suffix(2) == ["HEAD", "PUT"])
      let publish = { @Sendable (isReplacing: Bool) in
        try await onThread("client") { try store.publish(blob, replacing: isReplacing) }
      }
      try await publish(false)
      #expect(bucket.requests() == ["HEAD"])
      bucket.clear()
      try await publish(false)
      #expect(bucket.requests() == ["HEAD", "HEAD", "PUT"])
      try await publish(false)
      #expect(bucket.requests() == ["HEAD"])
      try await publish(true)
      #expect(bucket.requests() == ["HEAD", "PUT"])
      try await publish(true)
      #expect(bucket.requests() == ["HEAD"])
    }
  }
}
