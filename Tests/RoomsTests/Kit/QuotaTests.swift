import BoxTesting
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Quotas of a day", .tags(.database, .network), .timeLimit(.minutes(60)))
struct QuotaTests {
  private static let quotaExceeded = JSONValue.string("urn:take5:problem:quota_exceeded")

  private static func post(_ author: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")],
      body: Array(#"{"kind":"photo","author":"\#(author)","caption":"no photo"}"#.utf8))
  }

  @Test("a user has a number of posts a day, and another user has its own")
  func posts() async throws {
    var setting = RunningAPI.Setting()
    setting.api.quotas.user.posts = 2
    try await RunningAPI.with(setting) { api in
      for _ in 0..<2 { #expect(try await Self.post("ada", api).status == 201) }
      let third = try await Self.post("ada", api)
      #expect(third.status == 429 && third.json["type"] == Self.quotaExceeded)
      let rest = try #require(third.headers["retry-after"].flatMap { Int($0) })
      #expect(1...86_400 ~= rest)
      #expect(try await Self.post("bob", api).status == 201)
      // Nothing of a refused post stays, and what is refused is not counted.
      #expect(try await api.get("/v1/posts?author=ada").json["items"].elements.count == 2)
    }
  }

  @Test("a key has bytes a day: an upload counts with its length when it is created, once")
  func bytes() async throws {
    var setting = RunningAPI.Setting()
    setting.api.quotas.key.bytes = 100
    try await RunningAPI.with(setting) { api in
      let path = try UploadTests.path(try await UploadTests.create(60, api))
      let over = try await UploadTests.create(41, api)
      #expect(over.status == 429 && over.json["type"] == Self.quotaExceeded)
      // Bytes that were counted are sent, in any number of parts.
      for offset in stride(from: 0, to: 60, by: 20) {
        let part = [UInt8](repeating: 1, count: 20)
        #expect(try await UploadTests.send(part, at: offset, to: path, api).status == 204)
      }
      #expect(try await UploadTests.create(40, api).status == 201)
      #expect(try await UploadTests.create(1, api).status == 429)
    }
  }

  @Test("an upload without a length counts what each request is about to send")
  func unknownLength() async throws {
    var setting = RunningAPI.Setting()
    setting.api.quotas.key.bytes = 10
    try await RunningAPI.with(setting) { api in
      let created = try await request(
        "POST", "/v1/uploads", port: api.port, headers: [("Upload-Complete", "?0")], body: Array("abcd".utf8))
      #expect(created.status == 201)
      let path = try UploadTests.path(created)
      let headers = { (offset: Int) in
        [("Content-Type", "application/partial-upload"), ("Upload-Complete", "?0"), ("Upload-Offset", "\(offset)")]
      }
      let second = try await request("PATCH", path, port: api.port, headers: headers(4), body: Array("efgh".utf8))
      #expect(second.status == 204)
      let third = try await request("PATCH", path, port: api.port, headers: headers(8), body: Array("ijk".utf8))
      #expect(third.status == 429 && third.json["type"] == Self.quotaExceeded)
    }
  }

  @Test("a form that passes the quota is refused before its body is sent")
  func beforeTheBody() async throws {
    var setting = RunningAPI.Setting()
    setting.api.quotas.key.bytes = 1 << 20
    try await RunningAPI.with(setting) { api in
      let response = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(
          "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            + "Content-Length: 2000000\r\n\r\n")
        return try connection.receive()
      }
      #expect(response.status == 429 && response.json["type"] == Self.quotaExceeded)
      // What a form has sent counts once it is stored.
      #expect(try await api.submit(.moment()).status == 202)
      let used: Int = try await api.pool.run {
        try $0.execute("SELECT bytes FROM daily_usage").single().get("bytes")
      }
      #expect(used == boxedClip(seed: 1).count + boxedClip(seed: 2).count)
    }
  }
}
