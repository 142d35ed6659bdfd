import Glibc
import HTTPTesting
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("A bucket that hangs", .timeLimit(.minutes(60)))
struct HangingBucketTests {
  @Test("readers at the same time cost one request; a bucket that stalls is asked twice, and not for copies")
  func stalls() async throws {
    try await OneObject.with { object in
      let folder = try TemporaryFolder()
      let store = try await onThread("client") { try object.store(in: folder) }
      var limits = BlobReads.Limits()
      limits.checkTimeout = .seconds(600)
      let reads = BlobReads(store, limits: limits)
      let open: @Sendable () async throws -> [UInt8] = {
        try await reads.open(OneObject.hash, bytes: OneObject.length, within: .seconds(600)).descriptor.contents()
      }
      object.stall.withLock { $0 = .inObjects }
      let readers = (0..<4).map { _ in Task { try await open() } }
      for reader in readers {
        await #expect(throws: BlobError.self) { try await reader.value }
      }
      #expect(object.requests.withLock(\.self) == 2)
      // The bucket itself answers.
      _ = try await reads.check()
      object.stall.withLock { $0 = .nowhere }
      let later = (0..<4).map { _ in Task { try await open() } }
      for reader in later { #expect(try await reader.value == OneObject.content) }
      #expect(object.requests.withLock(\.self) == 3)

      object.stall.withLock { $0 = .everywhere }
      #expect(try await open() == OneObject.content)
      await #expect(throws: BlobError.self) { _ = try await reads.check() }
      #expect(object.requests.withLock(\.self) == 3)
    }
  }

  @Test("a store that accepts connections and does not reply is asked twice")
  func silent() async throws {
    let (listener, port) = try LocalSocket.listening()
    let exchanges = Shared<[S3Exchange.Result]>([])
    var retries = S3Client.Retries()
    retries.readSeconds = 1
    retries.firstPause = .milliseconds(1)
    let client = S3Client(
      try S3Location("s3://bucket?endpoint=http://127.0.0.1:\(port)"),
      credentials: { S3Credentials(keyID: "id", secret: "secret") }, retries: retries,
      onExchange: { exchange in exchanges.withLock { $0.append(exchange.result) } })
    await #expect(throws: BlobError.self) { try await onThread("client") { try ObjectBlobStore.id(of: client) } }
    #expect(exchanges.withLock(\.self) == [.unreachable, .unreachable])
    withExtendedLifetime(listener) {}
  }
}
