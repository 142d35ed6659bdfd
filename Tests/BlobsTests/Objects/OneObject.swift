import Crypto
import HTTPServer
import HTTPTesting
import Model
import Platform
import PostgresTesting

@testable import Blobs

/// A bucket with one object, on a server that may stop to send.
struct OneObject: Sendable {
  /// Where the server stops.
  enum Stall: Sendable { case nowhere, inObjects, everywhere }

  static let content = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
  static let hash = SHA256.digest(of: content)
  static let length = Int64(content.count)

  let client: S3Client
  /// The number of requests for the object.
  let requests = Shared(0)
  let stall = Shared(Stall.nowhere)

  /// Runs a test with the bucket; a request fails a second after the last byte.
  static func with(_ body: (OneObject) async throws -> Void) async throws {
    let found = Shared<OneObject?>(nil)
    let id = PublicID.now()
    @Sendable func send(_ bytes: [UInt8], stallingAt stalls: [Stall]) -> Response {
      guard let object = found.withLock(\.self), stalls.contains(object.stall.withLock(\.self)) else {
        return Response(.ok, body: .bytes(bytes))
      }
      let stream = BodyStream(heartbeat: [])
      if bytes.count > 1000 { stream.write(Array(bytes.prefix(bytes.count / 2))) }
      return Response(.ok, body: .stream(stream))
    }
    let router = Router(
      routes: [
        Route("GET", "/bucket/{key}", admission: Route.open) { _ in
          send(Array("\(id)\n".utf8), stallingAt: [.everywhere])
        },
        Route("GET", "/bucket/{shard}/{key}", admission: Route.open) { _ in
          found.withLock { $0?.requests.withLock { $0 += 1 } }
          return send(content, stallingAt: [.everywhere, .inObjects])
        },
      ], fallbackAdmission: Route.open)
    try await withServer(ServerConfiguration(), router: router) { server in
      var retries = S3Client.Retries()
      // A machine that is busy replies within it.
      retries.readSeconds = 3
      retries.firstPause = .milliseconds(1)
      let object = OneObject(
        client: S3Client(
          try S3Location("s3://bucket?endpoint=http://127.0.0.1:\(server.port)"),
          credentials: { S3Credentials(keyID: "id", secret: "secret") }, retries: retries))
      found.withLock { $0 = object }
      try await body(object)
    }
  }

  /// The store of the bucket, with copies in a folder.
  func store(in folder: TemporaryFolder) throws -> ObjectBlobStore {
    try ObjectBlobStore(client, folder: "\(folder.path)/cache", uploads: "\(folder.path)/uploads", limit: 1 << 30)
  }

  /// Removes the folder of copies.
  static func removeCopies(of store: ObjectBlobStore) throws { try Folder.remove(store.cache.store.folder) }

  /// Overwrites a part of the copy, or shortens it.
  static func damageCopy(of store: ObjectBlobStore, to length: Int? = nil) throws {
    let path = store.cache.store.location(of: hash)
    if let length {
      let file = try Descriptor(reading: path).contents().prefix(length)
      try Descriptor(writing: path, replacing: true).write(Array(file))
    } else {
      try Descriptor(writing: path, replacing: true).write(content.map { ~$0 })
    }
  }
}
