import Crypto
import FoundationEssentials
import HTTPTesting
import Platform
import PostgresTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Uploads of the IETF drafts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UploadDraftTests {
  /// Sends a part of a body, waits until it has arrived, and loses the connection.
  static func cut(
    _ method: String, _ path: String, _ headers: [(String, String)], length: Int?, _ text: String, _ api: RunningAPI
  ) async throws {
    let framing = length.map { "Content-Length: \($0)\r\n\r\n\(text)" }
    let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
    let chunked = "Transfer-Encoding: chunked\r\n\r\n\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n"
    let sending = try await onThread("client") {
      let connection = try ClientConnection(port: api.port)
      try connection.send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\(framing ?? chunked)")
      return Sending(connection)
    }
    try await until { try await api.get(path).json["offset"] == .number(Double(text.utf8.count)) }
    withExtendedLifetime(sending) {}
  }

  @Test("an upload of unknown length in three parts")
  func parts() async throws {
    try await RunningAPI.with { api in
      let complete = { ("Upload-Complete", $0 ? "?1" : "?0") }
      let created = try await request(
        "POST", "/v1/uploads", port: api.port, headers: [complete(false)], body: Array("abc".utf8))
      let path = try UploadTests.path(created)
      #expect(created.status == 201 && created.headers["upload-offset"] == "3")
      #expect(created.headers["upload-limit"]?.hasPrefix("max-size=") == true)
      let part = ("Content-Type", "application/partial-upload")
      let second = try await request(
        "PATCH", path, port: api.port, headers: [part, ("Upload-Offset", "3"), complete(false)], body: Array("de".utf8))
      #expect(second.status == 204 && second.headers["upload-complete"] == "?0")
      let wrong = try await request(
        "PATCH", path, port: api.port, headers: [part, ("Upload-Offset", "3"), complete(true)], body: Array("f".utf8))
      #expect(wrong.status == 409 && wrong.json["expected-offset"] == .number(5))
      #expect(wrong.json["provided-offset"] == .number(3))
      #expect(wrong.headers["upload-offset"] == "5" && wrong.headers["upload-complete"] == "?0")
      #expect(
        wrong.json["type"] == .string("https://iana.org/assignments/http-problem-types#mismatching-upload-offset"))
      let last = try await request(
        "PATCH", path, port: api.port, headers: [part, ("Upload-Offset", "5"), complete(true)], body: Array("f".utf8))
      #expect(last.status == 201 && last.headers["upload-complete"] == "?1" && last.headers["upload-length"] == "6")
      #expect(last.headers["location"] == created.headers["location"])
      #expect(try await api.get(path).json["is_whole"] == .boolean(true))
    }
  }

  @Test("HEAD, and GET that names the protocol, return the state of the upload, and are not stored")
  func retrieval() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(5, api)
      for (text, offset, isWhole) in [("abc", 0, false), ("de", 3, true)] {
        #expect(try await UploadDialect.draft.send(text, at: offset, to: path, isLast: isWhole, api).status < 300)
        for method in ["HEAD", "GET"] {
          let response = try await request(method, path, port: api.port, headers: UploadDialect.draft.named)
          #expect(response.status == (method == "HEAD" ? 204 : 200))
          #expect(response.headers["upload-offset"] == "\(offset + text.utf8.count)")
          #expect(response.headers["upload-complete"] == (isWhole ? "?1" : "?0"))
          #expect(response.headers["upload-length"] == "5")
          #expect(response.headers["upload-limit"]?.contains("max-age=") == true)
          #expect(response.headers["cache-control"] == "no-store")
        }
      }
      // A client of the draft finds no offset in the response to a GET that ends no request.
      let observed = try await api.get(path)
      #expect(observed.json["offset"] == .number(5) && observed.headers["upload-offset"] == nil)
      #expect(observed.headers["cache-control"] == "no-store")
    }
  }

  @Test("an append that is cut is not complete, and its length is known", arguments: [true, false])
  func cutAppend(hasLength: Bool) async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(hasLength ? nil : 10, api)
      try await Self.cut(
        "PATCH", path, UploadDialect.draft.part(at: 0, isLast: true), length: hasLength ? 10 : nil, "abc", api)
      let head = try await UploadDialect.draft.head(path, api)
      #expect(head.headers["upload-offset"] == "3" && head.headers["upload-complete"] == "?0")
      #expect(head.headers["upload-length"] == "10")
      #expect(try await UploadDialect.draft.send("defghij", at: 3, to: path, isLast: true, api).status == 201)
    }
  }

  @Test("an end that is repeated, because its response was lost, gets the response", arguments: UploadDialect.allCases)
  func repeatedEnd(dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.tus.create(3, api)
      let first = try await dialect.send("abc", at: 0, to: path, isLast: true, api)
      let again = try await dialect.send("", at: 3, to: path, isLast: true, api)
      let chunked = try await dialect.sendChunked("PATCH", path, dialect.part(at: 3, isLast: true), "", api)
      #expect(first.status == (dialect == .tus ? 204 : 201))
      for response in [again, chunked] {
        #expect(response.status == first.status && response.headers["upload-offset"] == "3")
        #expect(response.headers["upload-complete"] == first.headers["upload-complete"])
        #expect(response.headers["upload-incomplete"] == first.headers["upload-incomplete"])
      }
      for more in [
        try await dialect.send("d", at: 3, to: path, isLast: true, api),
        try await dialect.sendChunked("PATCH", path, dialect.part(at: 3, isLast: true), "d", api),
      ] {
        let type =
          dialect == .tus
          ? "urn:take5:problem:upload_whole"
          : "https://iana.org/assignments/http-problem-types#inconsistent-upload-length"
        #expect(more.status == 400 && more.json["type"] == .string(type))
      }
    }
  }

  @Test("a refusal of the file is the answer to the upload, and does not say the digest of the bytes")
  func refused() async throws {
    try await RunningAPI.with { api in
      let hash = { (text: String) in Data(SHA256.digest(of: Array(text.utf8)).bytes).base64EncodedString() }
      let digest = [("Repr-Digest", "sha-256=:\(hash("other")):")]
      for dialect in UploadDialect.allCases {
        let length = dialect == .tus ? [("Upload-Length", "3")] : []
        let path = try UploadTests.path(
          try await request(
            "POST", "/v1/uploads", port: api.port,
            headers: dialect.named + dialect.completeness(false) + length + digest, body: []))
        let first = try await dialect.send("abc", at: 0, to: path, isLast: true, api)
        let again = try await dialect.send("", at: 3, to: path, isLast: true, api)
        for response in [first, again] {
          #expect(response.status == 400)
          #expect(!response.text.contains(hash("abc")))
          #expect(!response.text.contains(SHA256.digest(of: Array("abc".utf8)).hex))
          #expect(response.headers["upload-complete"] == (dialect == .draft ? "?1" : nil))
          #expect(response.headers["upload-offset"] == (dialect == .draft01 ? "3" : nil))
          #expect((response.headers["upload-expires"] != nil) == (dialect == .tus))
          guard dialect != .tus else { continue }
          let type = "https://iana.org/assignments/http-problem-types#digest-mismatching-values"
          #expect(response.json["type"] == .string(type))
          let mismatch = response.json["mismatching-digests"][0]
          #expect(mismatch["provided-digest"] == .string(":\(hash("other")):"))
          #expect(mismatch["algorithm"] == .string("sha-256") && mismatch["header"] == .string("Repr-Digest"))
        }
        let head = try await dialect.head(path, api)
        #expect(head.status == (dialect == .tus ? 410 : 204))
        #expect(head.headers["upload-complete"] == (dialect == .draft ? "?1" : nil))
        #expect(try await api.get(path).json["reason"]["code"] == .string("digest_mismatch"))
      }
    }
  }

  @Test("the digest of a whole file is returned to who asks for it, where the response is about the file")
  func digests() async throws {
    try await RunningAPI.with { api in
      let digest = "sha-256=:\(Data(SHA256.digest(of: Array("abc".utf8)).bytes).base64EncodedString()):"
      let wanted = [("Want-Repr-Digest", "sha-512=3, sha-256=1")]
      // The last of equal members counts, parameters are skipped, and the padding may be missing.
      let unpadded = "\(digest.dropLast(2)):"
      let announced = ("Repr-Digest", "sha-256=:AAAA:, sha-512=:AAAA:, \(unpadded);a=1")
      let created = try await request(
        "POST", "/v1/uploads", port: api.port, headers: [("Upload-Complete", "?0"), announced] + wanted, body: [])
      #expect(created.status == 201 && created.headers["repr-digest"] == nil)
      let path = try UploadTests.path(created)
      // In PATCH the field is the digest of the request.
      let last = try await UploadDialect.draft.send(
        "abc", at: 0, to: path, isLast: true, with: wanted + [("Repr-Digest", "sha-256=:AAAA:")], api)
      #expect(last.status == 201 && last.headers["repr-digest"] == digest)
      let head = try await request("HEAD", path, port: api.port, headers: wanted)
      #expect(head.headers["repr-digest"] == digest)
      for header in [[("Want-Repr-Digest", "sha-256=0")], [("Want-Repr-Digest", "sha-512=1")], []] {
        #expect(try await request("HEAD", path, port: api.port, headers: header).headers["repr-digest"] == nil)
      }
      // The representation that GET returns is JSON.
      #expect(try await api.get(path, headers: wanted).headers["repr-digest"] == nil)
    }
  }

  @Test("the draft of iOS 17: its field is the opposite, its appends get 201, and its responses name the version")
  func interop3() async throws {
    try await RunningAPI.with { api in
      let dialect = UploadDialect.draft01
      let whole = try await request(
        "POST", "/v1/uploads", port: api.port, headers: dialect.named + dialect.completeness(true),
        body: Array("abc".utf8))
      #expect(whole.status == 201 && whole.headers["upload-incomplete"] != "?1" && whole.headers["location"] != nil)
      let created = try await request(
        "POST", "/v1/uploads", port: api.port, headers: dialect.named + dialect.completeness(false),
        body: Array("abc".utf8))
      let path = try UploadTests.path(created)
      var responses = [created]
      responses.append(try await dialect.send("de", at: 3, to: path, isLast: false, api))
      for response in responses {
        #expect(response.status == 201 && response.headers["upload-incomplete"] == "?1")
      }
      let partial = try await dialect.head(path, api)
      #expect(partial.status == 204 && partial.headers["upload-incomplete"] == "?1")
      let wrong = try await dialect.send("x", at: 0, to: path, isLast: false, api)
      #expect(wrong.status == 409)
      // Without the field a request is the last.
      let last = try await request(
        "PATCH", path, port: api.port, headers: dialect.named + [("Upload-Offset", "5")], body: Array("f".utf8))
      #expect(last.status == 201 && last.headers["upload-incomplete"] == "?0")
      let head = try await dialect.head(path, api)
      #expect(head.status == 204 && head.headers["upload-incomplete"] == "?0")
      responses += [partial, wrong, last, head]
      #expect(responses.map { $0.headers["upload-offset"] } == ["3", "5", "5", "5", "6", "6"])
      for response in responses { #expect(response.headers["upload-draft-interop-version"] == "3") }
      #expect(try await request("DELETE", path, port: api.port, headers: dialect.named).status == 204)
      #expect(try await dialect.send("g", at: 6, to: path, isLast: true, api).status == 404)
      for method in ["HEAD", "DELETE"] {
        let gone = try await request(method, path, port: api.port, headers: dialect.named)
        #expect(gone.status == 404 && gone.headers["upload-offset"] == nil)
      }
    }
  }

  @Test("in the draft of iOS 17 HEAD and DELETE with the fields of an append are refused, and end nothing")
  func interop3Refusals() async throws {
    try await RunningAPI.with { api in
      let dialect = UploadDialect.draft01
      let path = try await dialect.create(nil, api)
      #expect(try await dialect.send("abc", at: 0, to: path, isLast: false, api).status == 201)
      for method in ["HEAD", "DELETE"] {
        for field in [("Upload-Offset", "3"), ("Upload-Incomplete", "?1")] {
          let refused = try await request(method, path, port: api.port, headers: dialect.named + [field])
          #expect(refused.status == 400)
        }
      }
      #expect(try await dialect.head(path, api).headers["upload-offset"] == "3")
      // A failure of an upload that is active says where it goes on.
      let failed = try await request(
        "PATCH", path, port: api.port, headers: dialect.named + [("Upload-Offset", "x")], body: [1])
      #expect(failed.status == 400 && failed.headers["upload-offset"] == "3")
    }
  }
}
