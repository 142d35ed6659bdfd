import Blobs
import FoundationEssentials
import HTTPTesting
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

@Suite("Rules of the upload protocols", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UploadProtocolTests {
  private static let tus = UploadDialect.tus.named

  /// Whether a text is an HTTP date (RFC 9110, section 5.6.7) of the next two minutes.
  private static func isSoon(_ text: String?) -> Bool {
    let now = Int(Date.now.timeIntervalSince1970)
    return (now...now + 120).contains { ResponseHead.date($0) == text }
  }

  @Test("every response to a request of tus names the version, and is not stored")
  func tusResumable() async throws {
    var setting = RunningAPI.Setting()
    setting.key = "k1"
    try await RunningAPI.with(setting) { api in
      let (key, content) = (("Authorization", "Bearer k1"), ("Content-Type", "application/offset+octet-stream"))
      let created = try await UploadTests.create(5, api, headers: Self.tus + [key])
      let path = try UploadTests.path(created)
      let unknown = "/v1/uploads/00000000-0000-7000-8000-000000000000"
      var responses = [(201, created)]
      func ask(
        _ status: Int, _ method: String, _ path: String, _ fields: [(String, String)], _ body: String? = nil,
        tus: [(String, String)] = UploadDialect.tus.named
      ) async throws {
        let bytes = body.map { Array($0.utf8) }
        responses.append((status, try await request(method, path, port: api.port, headers: tus + fields, body: bytes)))
      }
      try await ask(401, "POST", "/v1/uploads", [("Upload-Length", "5")], "")
      try await ask(400, "POST", "/v1/uploads", [key], "")
      try await ask(413, "POST", "/v1/uploads", [key, ("Upload-Length", "999999999999")], "")
      try await ask(415, "POST", "/v1/uploads", [key, ("Upload-Length", "5")], "abc")
      try await ask(412, "POST", "/v1/uploads", [key, ("Upload-Length", "5")], "", tus: [("Tus-Resumable", "0.2.2")])
      try await ask(405, "PUT", "/v1/uploads", [key], "")
      try await ask(204, "PATCH", path, [key, content, ("Upload-Offset", "0")], "abc")
      try await ask(409, "PATCH", path, [key, content, ("Upload-Offset", "0")], "abc")
      try await ask(413, "PATCH", path, [key, content, ("Upload-Offset", "3")], "abc")
      try await ask(415, "PATCH", path, [key, ("Upload-Offset", "3")], "de")
      try await ask(400, "PATCH", path, [key, content], "de")
      try await ask(401, "PATCH", path, [content, ("Upload-Offset", "3")], "de")
      try await ask(200, "HEAD", path, [key])
      try await ask(200, "GET", path, [key])
      try await ask(405, "PUT", path, [key], "")
      try await ask(405, "POST", path, [key], "")
      for method in ["HEAD", "DELETE"] { try await ask(404, method, unknown, [key]) }
      try await ask(404, "PATCH", unknown, [key, content, ("Upload-Offset", "0")], "a")
      try await ask(204, "DELETE", path, [key])
      for (status, response) in responses {
        #expect(response.status == status)
        #expect(response.headers["tus-resumable"] == "1.0.0", "\(status)")
        #expect(response.headers["cache-control"] == "no-store", "\(status)")
        if status == 404 { #expect(response.headers["upload-offset"] == nil) }
      }
    }
  }

  @Test("every response to PATCH in tus says when the upload expires")
  func expires() async throws {
    var setting = RunningAPI.Setting()
    setting.api.uploadLifetime = 60
    try await RunningAPI.with(setting) { api in
      let path = try await UploadDialect.tus.create(5, api)
      for (fields, body, status) in [
        ([("Upload-Offset", "0"), UploadTests.content], "abc", 204),
        ([("Upload-Offset", "0"), UploadTests.content], "d", 409),
        ([("Upload-Offset", "3"), UploadTests.content], "defgh", 413), ([("Upload-Offset", "3")], "d", 415),
        ([UploadTests.content], "d", 400),
      ] {
        let response = try await request(
          "PATCH", path, port: api.port, headers: Self.tus + fields, body: Array(body.utf8))
        #expect(response.status == status && Self.isSoon(response.headers["upload-expires"]), "\(status)")
        if status == 415 { #expect(response.headers["accept-patch"]?.contains(UploadDialect.tusContent) == true) }
      }
      let created = try await UploadTests.create(5, api)
      #expect(Self.isSoon(created.headers["upload-expires"]))
    }
  }

  @Test("another version of tus is refused before anything else, and nothing happens")
  func unsupportedVersion() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.tus.create(5, api)
      #expect(try await UploadTests.send([1, 2, 3], at: 0, to: path, api).status == 204)
      let unknown = "/v1/uploads/00000000-0000-7000-8000-000000000000"
      let part = [UploadTests.content, ("Upload-Offset", "3")]
      for (method, path, fields) in [
        ("POST", "/v1/uploads", [("Upload-Length", "5")]), ("HEAD", path, []), ("PATCH", path, part),
        ("DELETE", path, []),
        ("PATCH", unknown, part), ("PATCH", path, part + [("If-Match", "\"1\"")]),
        ("POST", path, part + [("X-HTTP-Method-Override", "PATCH")]),
        ("POST", path, [("X-HTTP-Method-Override", "DELETE")]),
      ] as [(String, String, [(String, String)])] {
        let response = try await request(
          method, path, port: api.port, headers: [("Tus-Resumable", "0.2.2")] + fields,
          body: method == "HEAD" ? nil : [4])
        #expect(response.status == 412 && response.headers["tus-version"] == "1.0.0")
        #expect(response.headers["tus-resumable"] == "1.0.0")
      }
      #expect(try await UploadTests.offset(of: path, api) == "3")
      let described = try await request("OPTIONS", "/v1/uploads", port: api.port, headers: [("Tus-Resumable", "0.2.2")])
      #expect(described.status == 204 && described.headers["tus-version"] == "1.0.0")
    }
  }

  @Test("in tus X-HTTP-Method-Override is the method, whatever the other one is")
  func override() async throws {
    try await RunningAPI.with { api in
      func ask(_ method: String, as other: String, _ path: String, _ fields: [(String, String)] = []) async throws
        -> ClientResponse
      {
        try await request(
          method, path, port: api.port, headers: Self.tus + [("X-HTTP-Method-Override", other)] + fields,
          body: other == "PATCH" ? Array("ab".utf8) : [])
      }
      let path = try await UploadDialect.tus.create(8, api)
      for (index, method) in ["POST", "GET", "DELETE"].enumerated() {
        let sent = try await ask(method, as: "PATCH", path, [UploadTests.content, ("Upload-Offset", "\(2 * index)")])
        #expect(sent.status == 204 && sent.headers["upload-offset"] == "\(2 * index + 2)")
      }
      let head = try await ask("POST", as: "HEAD", path)
      #expect(head.status == 200 && head.headers["upload-offset"] == "6" && head.body.isEmpty)
      #expect(try await ask("DELETE", as: "GET", path).json["offset"] == .number(6))
      let wrong = try await ask("PATCH", as: "PUT", path)
      #expect(wrong.status == 405 && wrong.headers["allow"] == "DELETE, GET, HEAD, PATCH")
      let described = try await ask("POST", as: "OPTIONS", "/v1/uploads")
      #expect(described.status == 204 && described.headers["tus-extension"] != nil)
      // Another protocol does not have the field.
      let ignored = try await request(
        "GET", path, port: api.port, headers: [("X-HTTP-Method-Override", "DELETE")])
      #expect(ignored.status == 200)
      #expect(try await ask("POST", as: "DELETE", path).status == 204)
      #expect(try await api.get(path).status == 404)
    }
  }

  @Test("OPTIONS describes the service, also as the preflight of a browser")
  func preflight() async throws {
    var setting = RunningAPI.Setting()
    setting.server.allowedOrigins = try AllowedOrigins(["https://app.example.org"])
    try await RunningAPI.with(setting) { api in
      let origin = [("Origin", "https://app.example.org"), ("Access-Control-Request-Method", "POST")]
      for fields in [[], origin, [("Tus-Resumable", "0.2.2")]] {
        let response = try await request("OPTIONS", "/v1/uploads", port: api.port, headers: fields)
        #expect(response.status == 204 && response.headers["tus-version"] == "1.0.0")
        #expect(response.headers["tus-extension"] == "creation,creation-with-upload,expiration,termination")
        let bytes = try #require(response.headers["tus-max-size"])
        #expect(Int(bytes) != nil && response.headers["upload-limit"] == "max-size=\(bytes), max-age=86400")
        #expect((response.headers["access-control-allow-methods"] != nil) == (fields.first?.0 == "Origin"))
      }
      let other = try await request("OPTIONS", "/v1/posts", port: api.port, headers: origin)
      #expect(other.status == 204 && other.headers["tus-version"] == nil)
    }
  }

  @Test("HEAD of tus says the offset and the length, from the first byte to the last")
  func headOfTus() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.tus.create(3, api)
      for offset in 0...3 {
        let head = try await UploadDialect.tus.head(path, api)
        #expect(head.status == 200 && head.headers["upload-offset"] == "\(offset)")
        #expect(head.headers["upload-length"] == "3" && head.headers["upload-defer-length"] == nil)
        if offset < 3 { #expect(try await UploadTests.send([1], at: offset, to: path, api).status == 204) }
      }
      // The length of an upload of a draft may not be known.
      let other = try await UploadDialect.draft.create(nil, api)
      #expect(try await UploadDialect.tus.head(other, api).headers["upload-defer-length"] == "1")
    }
  }

  @Test("an upload that has expired does not exist", arguments: UploadDialect.allCases)
  func expired(dialect: UploadDialect) async throws {
    var setting = RunningAPI.Setting()
    setting.api.uploadLifetime = 0
    try await RunningAPI.with(setting) { api in
      let path = try await dialect.create(3, api)
      let head = try await dialect.head(path, api)
      #expect(head.status == 404 && head.headers["upload-offset"] == nil)
      #expect(try await dialect.send("abc", at: 0, to: path, isLast: true, api).status == 404)
    }
  }

  @Test("an offset that is not a number is refused, and changes nothing", arguments: UploadDialect.allCases)
  func invalidNumbers(dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let path = try await dialect.create(5, api)
      for offset in ["-1", "a", "", "0x0", "0, 0"] {
        let fields = dialect.part(at: 0, isLast: false).filter { $0.0 != "Upload-Offset" } + [("Upload-Offset", offset)]
        let response = try await request("PATCH", path, port: api.port, headers: fields, body: [1])
        #expect(response.status == 400, "\(offset)")
        #expect(response.headers["upload-complete"] == (dialect == .draft ? "?0" : nil))
      }
      #expect(try await dialect.head(path, api).headers["upload-offset"] == "0")
    }
  }

  @Test("a creation whose client knows no URL leaves nothing when it fails", arguments: [UploadDialect.tus, .draft01])
  func failedCreation(dialect: UploadDialect) async throws {
    var setting = RunningAPI.Setting()
    setting.key = "k1"
    try await RunningAPI.with(setting) { api in
      let fields = [
        ("Upload-Length", "2"), ("Content-Type", UploadDialect.tusContent), ("Via", "1.1 x"),
        ("Authorization", "Bearer k1"),
      ]
      let response = try await dialect.sendChunked(
        "POST", "/v1/uploads", dialect.named + dialect.completeness(true) + fields, "abc", api)
      #expect(response.status == (dialect == .tus ? 413 : 400))
      #expect(try api.blobs.uploads().all().isEmpty)
    }
  }
}
