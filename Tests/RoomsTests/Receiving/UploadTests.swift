import BoxTesting
import Crypto
import FoundationEssentials
import Glibc
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs
@testable import Kit
@testable import Rooms

@Suite("Uploads in parts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UploadTests {
  static let tus = [("Tus-Resumable", "1.0.0")]
  static let content = ("Content-Type", "application/offset+octet-stream")

  static func create(
    _ length: Int, _ api: RunningAPI, headers: [(String, String)] = tus, body: [UInt8]? = nil
  ) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/uploads", port: api.port, headers: headers + [("Upload-Length", "\(length)")], body: body)
  }

  static func path(_ created: ClientResponse) throws -> String {
    let location = try #require(created.headers["location"])
    #expect(location.hasPrefix("http://localhost/v1/uploads/"))
    return String(location.dropFirst("http://localhost".count))
  }

  static func send(
    _ bytes: some Sequence<UInt8>, at offset: Int, to path: String, _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await request(
      "PATCH", path, port: api.port, headers: tus + [content, ("Upload-Offset", "\(offset)")], body: Array(bytes))
  }

  static func offset(of path: String, _ api: RunningAPI) async throws -> String? {
    let response = try await request("HEAD", path, port: api.port, headers: tus)
    #expect(response.status == 200 && response.headers["cache-control"] == "no-store")
    return response.headers["upload-offset"]
  }

  /// Sends a whole upload in two parts; returns its id.
  static func upload(_ bytes: [UInt8], _ api: RunningAPI) async throws -> String {
    let created = try await create(bytes.count, api)
    let path = try Self.path(created)
    #expect(created.status == 201 && created.headers["tus-resumable"] == "1.0.0")
    #expect(try await send(bytes.prefix(10), at: 0, to: path, api).headers["upload-offset"] == "10")
    #expect(try await offset(of: path, api) == "10")
    #expect(try await send(bytes.dropFirst(10), at: 10, to: path, api).status == 204)
    #expect(try await offset(of: path, api) == "\(bytes.count)")
    return String(path.dropFirst("/v1/uploads/".count))
  }

  @Test("a moment names two uploads, whose bytes become its sources without a copy")
  func moment() async throws {
    try await RunningAPI.with { api in
      let (front, back) = (boxedClip(seed: 1), boxedClip(seed: 2))
      let ids = [try await Self.upload(front, api), try await Self.upload(back, api)]
      let inode = try Self.inode("\(api.blobFolder)/uploads/\(ids[0])")
      let body =
        #"{"kind":"take5","author":"ada","caption":"at the lake","front":{"upload":"\#(ids[0])"},"back":{"upload":"\#(ids[1])"}}"#
      let key = [("Content-Type", "application/json"), ("Idempotency-Key", "one")]
      let response = try await request("POST", "/v1/posts", port: api.port, headers: key, body: Array(body.utf8))
      #expect(response.status == 202 && response.json["status"] == .string("processing"))
      for bytes in [front, back] { #expect(try api.blobs.contains(SHA256.digest(of: bytes))) }
      let hash = SHA256.digest(of: front).hex
      #expect(try Self.inode("\(api.blobFolder)/\(hash.prefix(2))/\(hash)") == inode)
      // The uploads are gone, and a repeated submission does not need them.
      #expect(try await api.get("/v1/uploads/\(ids[0])").status == 404)
      let again = try await request("POST", "/v1/posts", port: api.port, headers: key, body: Array(body.utf8))
      #expect(again.body == response.body && again.headers["idempotency-replayed"] == "true")
      let other = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
      #expect(other.status == 404 && other.json["type"] == .string("urn:take5:problem:upload_not_found"))
    }
  }

  private static func inode(_ path: String) throws -> UInt {
    try #require(FolderBlobStore.status(path)).st_ino
  }

  @Test("images name uploads too")
  func images() async throws {
    try await RunningAPI.with { api in
      let json = [("Content-Type", "application/json")]
      for (method, path) in [("PUT", "/v1/users/ada/profile-image"), ("POST", "/v1/places/gate/photos")] {
        let id = try await Self.upload(PhotoSubmissionTests.jpeg, api)
        let body = Array(#"{"author":"ada","image":{"upload":"\#(id)"}}"#.utf8)
        let response = try await request(method, path, port: api.port, headers: json, body: body)
        #expect(response.status == 202, "\(path)")
        #expect(try await request(method, path, port: api.port, headers: json, body: body).status == 404)
      }
      let rest = try Self.path(try await Self.create(100, api))
      let early = try await request(
        "PUT", "/v1/users/ada/profile-image", port: api.port, headers: json,
        body: Array(#"{"author":"ada","image":{"upload":"\#(rest.dropFirst("/v1/uploads/".count))"}}"#.utf8))
      #expect(early.status == 409 && early.json["type"] == .string("urn:take5:problem:upload_not_ready"))
      let photos = [
        try await Self.upload(PhotoSubmissionTests.jpeg, api), try await Self.upload(PhotoSubmissionTests.jpeg, api),
      ]
      let list = photos.map { #"{"upload":"\#($0)"}"# }.joined(separator: ",")
      let post = try await request(
        "POST", "/v1/posts", port: api.port, headers: json,
        body: Array(#"{"kind":"photo","author":"ada","photo":[\#(list)]}"#.utf8))
      #expect(post.status == 202)
    }
  }

  @Test(
    "a submission with an upload that is unknown, or not a file of its kind, is refused, and the upload remains",
    arguments: [
      (
        #"{"kind":"marker","author":"ada","image":{"upload":"00000000-0000-7000-8000-000000000000"}}"#, 404,
        "upload_not_found"
      ),
      (#"{"kind":"marker","author":"ada","image":"ID"}"#, 400, "invalid_fields"),
      (#"{"kind":"marker","author":"ada","image":{"upload":"ID","x":1}}"#, 400, "invalid_fields"),
      (#"{"kind":"take5","author":"ada"}"#, 400, "missing_part"),
      (#"{"kind":"photo","author":"ada","photo":[]}"#, 400, "invalid_fields"),
    ])
  func refusals(body: String, status: Int, type: String) async throws {
    try await RunningAPI.with { api in
      let path = try Self.path(try await Self.create(100, api))
      _ = try await Self.send([1, 2, 3], at: 0, to: path, api)
      let id = path.dropFirst("/v1/uploads/".count)
      let response = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")],
        body: Array(body.replacing("ID", with: id).utf8))
      #expect(response.status == status && response.json["type"] == .string("urn:take5:problem:\(type)"))
      #expect(try await Self.offset(of: path, api) == "3")
    }
  }

  @Test("a whole upload that is no media is refused with its code, and stays for another submission")
  func noMedia() async throws {
    try await RunningAPI.with { api in
      let id = try await Self.upload(Array("this is not a photo".utf8), api)
      let body = #"{"kind":"photo","author":"ada","photo":{"upload":"\#(id)"}}"#
      let response = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
      #expect(response.status == 422 && response.json["type"] == .string("urn:take5:problem:media_rejected"))
      #expect(try await api.get("/v1/uploads/\(id)").json["is_whole"] == .boolean(true))
    }
  }

  @Test("what has arrived stays when the connection is lost, and the client goes on from there")
  func lostConnection() async throws {
    try await RunningAPI.with { api in
      let bytes = boxedClip(seed: 3)
      let path = try Self.path(try await Self.create(bytes.count, api))
      try await onThread("client") {
        let connection = try ClientConnection(port: api.port)
        try connection.send(
          "PATCH \(path) HTTP/1.1\r\nHost: localhost\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n"
            + "Content-Type: application/offset+octet-stream\r\nContent-Length: \(bytes.count)\r\n\r\n")
        try connection.send(Array(bytes.prefix(100)))
        connection.reset()
      }
      // The service may still be reading; each answer is a beginning of the file that stays. What it reads after that answer is in front of
      // what the client sends then, which asks again.
      var status = 409
      let deadline = Deadline("the upload is not locked")
      while status == 409 {
        try deadline.check()
        let offset = try #require(try await Self.offset(of: path, api).flatMap { Int($0) })
        #expect(0...100 ~= offset)
        status = try await Self.send(bytes.dropFirst(offset), at: offset, to: path, api).status
      }
      #expect(status == 204)
      let id = path.dropFirst("/v1/uploads/".count).description
      let uploadID = try #require(PublicID(id))
      let file = try #require(try api.blobs.uploads().open(uploadID))
      #expect(try file.sealed(hash: nil).hash == SHA256.digest(of: bytes))
    }
  }

  @Test(
    "a new request ends the one that sends to the upload, whose connection is closed",
    arguments: UploadDialect.allCases, ["HEAD", "GET", "PATCH", "DELETE"])
  func stale(dialect: UploadDialect, method: String) async throws {
    try await RunningAPI.with { api in
      let path = try Self.path(try await Self.create(1000, api))
      let stale = try await onThread("client") {
        let connection = try ClientConnection(port: api.port)
        try connection.send(
          "PATCH \(path) HTTP/1.1\r\nHost: localhost\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n"
            + "Content-Type: application/offset+octet-stream\r\nContent-Length: 1000\r\n\r\n0123456789")
        return Sending(connection)
      }
      // GET that names no protocol ends nothing: it says when the bytes have arrived.
      try await until { try await api.get(path).json["offset"] == .number(10) }
      let response =
        method == "PATCH"
        ? try await dialect.send("abc", at: 10, to: path, isLast: false, api)
        : try await request(method, path, port: api.port, headers: dialect.named)
      #expect(200...204 ~= response.status)
      #expect(response.headers["upload-offset"] == ["HEAD": "10", "GET": "10", "PATCH": "13"][method])
      #expect(await (try? onThread("client") { try stale.receive() }) == nil)
    }
  }

  @Test("an offset that is not the next one is refused with the right one, and changes nothing")
  func wrongOffset() async throws {
    try await RunningAPI.with { api in
      let path = try Self.path(try await Self.create(10, api))
      #expect(try await Self.send([1, 2, 3], at: 0, to: path, api).status == 204)
      for wrong in [0, 2, 4, 10] {
        let response = try await Self.send([9], at: wrong, to: path, api)
        #expect(response.status == 409 && response.headers["upload-offset"] == "3")
      }
      let long = try await Self.send([UInt8](repeating: 0, count: 8), at: 3, to: path, api)
      #expect(long.status == 413)
      #expect(try await Self.offset(of: path, api) == "3")
      #expect(try await Self.send([4, 5, 6, 7, 8, 9, 10], at: 3, to: path, api).status == 204)
      #expect(try await Self.send([11], at: 10, to: path, api).status == 400)
    }
  }

  @Test(
    "an upload that a post has taken over answers for a day; the API removes expired uploads, without a worker")
  func removedByAPI() async throws {
    try await RunningAPI.with { api in
      let folder = try api.blobs.uploads()
      for (seconds, status) in [(86_000.0, 200), (86_401, 404)] {
        let id = try await Self.upload(PhotoSubmissionTests.jpeg, api)
        let upload = try #require(PublicID(id))
        try folder.finish(upload, now: .now.addingTimeInterval(-seconds))
        let path = "/v1/uploads/\(id)"
        #expect(try await request("HEAD", path, port: api.port, headers: Self.tus).status == status)
        await api.api.uploads.uploads.removeExpired()
        #expect(try folder.all().contains(upload) == (status == 200))
      }
      let now = Date.now
      let expired = UploadRecord(
        user: nil, length: 5, metadata: nil, createdAt: now, expiresAt: now.addingTimeInterval(-1))
      _ = try folder.create(expired)
      await api.api.uploads.uploads.removeExpired()
      #expect(try !Folder.names(in: "\(api.blobFolder)/uploads").contains { $0.hasPrefix("\(expired.id)") })
    }
  }

  @Test("an upload may be created with its first bytes, is described, and is removed")
  func life() async throws {
    try await RunningAPI.with { api in
      let described = try await request("OPTIONS", "/v1/uploads", port: api.port)
      #expect(described.status == 204 && described.headers["tus-version"] == "1.0.0")
      #expect(described.headers["tus-extension"] == "creation,creation-with-upload,expiration,termination")
      let most = try #require(described.headers["tus-max-size"].flatMap { Int($0) })
      #expect(try await Self.create(most + 1, api).status == 413)
      let metadata = ("Upload-Metadata", "filename ZnJvbnQubXA0")
      let created = try await Self.create(
        5, api, headers: Self.tus + [Self.content, metadata], body: Array("abc".utf8))
      #expect(created.status == 201 && created.headers["upload-offset"] == "3")
      #expect(created.headers["upload-expires"]?.hasSuffix("GMT") == true)
      let path = try Self.path(created)
      let head = try await request("HEAD", path, port: api.port, headers: Self.tus)
      #expect(head.headers["upload-metadata"] == metadata.1 && head.headers["upload-length"] == "5")
      #expect(try await request("DELETE", path, port: api.port, headers: Self.tus).status == 204)
      #expect(try await request("HEAD", path, port: api.port, headers: Self.tus).status == 404)
      #expect(try Folder.names(in: "\(api.blobFolder)/uploads").isEmpty)
      let override = Self.tus + [("X-HTTP-Method-Override", "DELETE")]
      let second = try Self.path(try await Self.create(5, api))
      #expect(try await request("POST", second, port: api.port, headers: override, body: []).status == 204)
      #expect(try await request("POST", second, port: api.port, headers: Self.tus, body: []).status == 405)
    }
  }
}

/// A connection on which a request waits for its response.
final class Sending: Sendable {
  private let connection: Locked<ClientConnection>

  init(_ connection: consuming ClientConnection) { self.connection = Locked(connection) }

  func receive() throws -> ClientResponse { try connection.withLock { try $0.receive() } }
}
