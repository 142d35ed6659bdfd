import HTTPTesting
import Platform
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("The length of an upload", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UploadLengthTests {
  private static let inconsistent = JSONValue.string(
    "https://iana.org/assignments/http-problem-types#inconsistent-upload-length")

  @Test("a chunked body that is the last and ends before the length is refused, and its bytes stay")
  func chunked() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(10, api)
      let short = try await UploadDialect.draft.sendChunked(
        "PATCH", path, UploadDialect.draft.part(at: 0, isLast: true), "abc", api)
      #expect(short.status == 400 && short.json["type"] == Self.inconsistent)
      #expect(short.headers["upload-complete"] == "?0")
      let head = try await UploadDialect.draft.head(path, api)
      #expect(head.headers["upload-offset"] == "3" && head.headers["upload-complete"] == "?0")
      let rest = try await UploadDialect.draft.sendChunked(
        "PATCH", path, UploadDialect.draft.part(at: 3, isLast: true), "defghij", api)
      #expect(rest.status == 201 && rest.headers["upload-complete"] == "?1")
      // The same at creation.
      let created = try await UploadDialect.draft.sendChunked(
        "POST", "/v1/uploads", [("Upload-Complete", "?1"), ("Upload-Length", "10")], "abc", api)
      #expect(created.status == 400 && created.json["type"] == Self.inconsistent)
    }
  }

  @Test("a length below the offset is refused, and is not recorded")
  func belowOffset() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(nil, api)
      #expect(try await UploadDialect.draft.send("abcde", at: 0, to: path, isLast: false, api).status == 204)
      let response = try await UploadDialect.draft.sendChunked(
        "PATCH", path, UploadDialect.draft.part(at: 5, isLast: false) + [("Upload-Length", "4")], "f", api)
      #expect(response.status == 400 && response.json["type"] == Self.inconsistent)
      #expect(try await UploadDialect.draft.send("f", at: 5, to: path, isLast: true, api).status == 201)
    }
  }

  @Test("in the drafts an upload is whole when the client says so, not at its length")
  func equalIsNotComplete() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(5, api)
      let sent = try await UploadDialect.draft.send("abcde", at: 0, to: path, isLast: false, api)
      #expect(sent.status == 204 && sent.headers["upload-complete"] == "?0")
      #expect(try await UploadDialect.draft.head(path, api).headers["upload-complete"] == "?0")
      let last = try await UploadDialect.draft.send("", at: 5, to: path, isLast: true, api)
      #expect(last.status == 201 && last.headers["upload-complete"] == "?1")
      #expect(try await api.get(path).json["is_whole"] == .boolean(true))
    }
  }

  @Test("in tus an upload is whole at its length, also if the service ended before it marked it as whole")
  func wholeAtLength() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.tus.create(5, api)
      // The draft leaves the upload as a kill between the last byte and the mark does.
      #expect(try await UploadDialect.draft.send("abcde", at: 0, to: path, isLast: false, api).status == 204)
      #expect(try await api.get(path).json["is_whole"] == .boolean(false))
      #expect(try await UploadDialect.tus.head(path, api).headers["upload-offset"] == "5")
      #expect(try await api.get(path).json["is_whole"] == .boolean(true))
    }
  }

  @Test("a length, once known, stays what it is")
  func acrossRequests() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(10, api)
      #expect(try await UploadDialect.draft.send("ab", at: 0, to: path, isLast: false, api).status == 204)
      for response in [
        try await UploadDialect.draft.send("c", at: 2, to: path, isLast: false, with: [("Upload-Length", "11")], api),
        try await UploadDialect.draft.send("cdefghi", at: 2, to: path, isLast: true, api),
        try await UploadDialect.draft.send("cdefghijk", at: 2, to: path, isLast: false, api),
      ] {
        #expect(response.status == 400 && response.json["type"] == Self.inconsistent)
      }
      let head = try await UploadDialect.draft.head(path, api)
      #expect(head.headers["upload-offset"] == "2" && head.headers["upload-length"] == "10")
      // An end that a request says is a length too, even if its bytes do not come.
      let other = try await UploadDialect.draft.create(nil, api)
      try await UploadDraftTests.cut(
        "PATCH", other, UploadDialect.draft.part(at: 0, isLast: true), length: 10, "abc", api)
      let end = try await UploadDialect.draft.send("defg", at: 3, to: other, isLast: true, api)
      #expect(end.status == 400 && end.json["type"] == Self.inconsistent)
    }
  }

  @Test("in the current draft an upload with more bytes than its length is invalid from there on")
  func exceeded() async throws {
    try await RunningAPI.with { api in
      let path = try await UploadDialect.draft.create(5, api)
      let long = try await UploadDialect.draft.sendChunked(
        "PATCH", path, UploadDialect.draft.part(at: 0, isLast: false), "abcdef", api)
      #expect(long.status == 400 && long.json["type"] == Self.inconsistent && long.headers["upload-complete"] == "?0")
      for method in ["HEAD", "DELETE"] {
        #expect(try await request(method, path, port: api.port, headers: UploadDialect.draft.named).status == 404)
      }
      #expect(try await UploadDialect.draft.send("a", at: 0, to: path, isLast: false, api).status == 404)
      // The draft of iOS 17 and tus have no such rule.
      for dialect in [UploadDialect.tus, .draft01] {
        let path = try await UploadDialect.tus.create(5, api)
        let long = try await dialect.sendChunked("PATCH", path, dialect.part(at: 0, isLast: false), "abcdef", api)
        #expect(long.status == (dialect == .tus ? 413 : 400))
        #expect(try await UploadDialect.tus.head(path, api).headers["upload-offset"] == "0")
      }
    }
  }

  @Test("an upload without bytes is whole", arguments: UploadDialect.allCases)
  func empty(dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let length = dialect == .tus ? [("Upload-Length", "0")] : []
      let created = try await request(
        "POST", "/v1/uploads", port: api.port, headers: dialect.named + dialect.completeness(true) + length, body: [])
      #expect(created.status == 201 && created.headers["upload-offset"] == "0")
      let json = try await api.get(try UploadTests.path(created)).json
      #expect(json["is_whole"] == .boolean(true) && json["length"] == .number(0))
    }
  }

  @Test(
    "bytes over the maximum are refused by their head, with the limit of the draft", arguments: UploadDialect.allCases)
  func maximum(dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let described = try await request("OPTIONS", "/v1/uploads", port: api.port)
      let most = try #require(described.headers["tus-max-size"].flatMap { Int($0) })
      let path = try await dialect.create(dialect == .tus ? most : nil, api)
      #expect(try await dialect.send("a", at: 0, to: path, isLast: false, api).status < 300)
      let lines = dialect.part(at: 1, isLast: false).map { "\($0.0): \($0.1)\r\n" }.joined()
      let refused = try await exchange(
        "PATCH \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)Content-Length: \(most)\r\nExpect: 100-continue\r\n\r\n",
        port: api.port)
      #expect(refused.status == 413)
      #expect((refused.headers["upload-limit"] != nil) == (dialect == .draft))
      #expect(refused.headers["upload-complete"] == (dialect == .draft ? "?0" : nil))
      #expect((refused.headers["upload-expires"] != nil) == (dialect == .tus))
      #expect(refused.headers["upload-offset"] == (dialect == .draft01 ? "1" : nil))
      let length = dialect == .tus ? "99999999999999999999" : "999999999999999"
      let created = try await request(
        "POST", "/v1/uploads", port: api.port,
        headers: dialect.named + dialect.completeness(false) + [("Upload-Length", length)], body: [])
      #expect(created.status == 413)
    }
  }

  @Test("the largest numbers are refused at each step, and the upload goes on", arguments: UploadDialect.allCases)
  func largest(dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let path = try await dialect.create(dialect == .tus ? 10 : nil, api)
      #expect(try await dialect.send("a", at: 0, to: path, isLast: false, api).status < 300)
      // A structured field has at most 15 digits; one with more is none.
      for number in ["999999999999999", "\(Int64.max)", "\(UInt64.max)", "99999999999999999999"] {
        let fields = dialect.part(at: 0, isLast: false).filter { $0.0 != "Upload-Offset" }
        let offset = try await request(
          "PATCH", path, port: api.port, headers: fields + [("Upload-Offset", number)], body: [1])
        #expect(offset.status == (dialect == .tus || number.utf8.count == 15 ? 409 : 400), "\(number)")
        for isLast in [false, true] {
          let created = try await request(
            "POST", "/v1/uploads", port: api.port,
            headers: dialect.named + dialect.completeness(isLast) + [("Upload-Length", number)], body: [])
          let isRead = dialect == .tus || number.utf8.count == 15
          #expect(created.status == (isRead ? (dialect == .tus || !isLast ? 413 : 400) : 201), "\(number) \(isLast)")
        }
        if dialect == .draft {
          let length = try await dialect.send(
            "b", at: 1, to: path, isLast: true, with: [("Upload-Length", number)], api)
          // What is no length says nothing.
          if number.utf8.count == 15 { #expect(length.status == 400, "\(number)") }
        }
        #expect(try await dialect.head(path, api).status < 300)
      }
    }
  }

  @Test("the bytes of an upload with a damaged record are refused", arguments: UploadDialect.allCases)
  func damagedRecord(dialect: UploadDialect) async throws {
    var setting = RunningAPI.Setting()
    setting.api.quotas.key.bytes = 1000
    try await RunningAPI.with(setting) { api in
      for member in [#""length":-9223372036854775808"#, #""charged":-9223372036854775808"#] {
        let path = try await dialect.create(10, api)
        #expect(try await dialect.send("a", at: 0, to: path, isLast: false, api).status < 300)
        let name = try #require(member.split(separator: ":").first)
        let file = "\(api.blobFolder)/uploads/\(path.dropFirst("/v1/uploads/".count)).json"
        let text = String(decoding: try Descriptor(reading: file).contents(), as: UTF8.self)
        let rest = text.dropFirst().split(separator: ",").filter { !$0.hasPrefix(name) }.joined(separator: ",")
        try Descriptor(writing: file, replacing: true).write(
          Array("{\(member),\(rest)\(rest.hasSuffix("}") ? "" : "}")".utf8))
        #expect(try await dialect.send("b", at: 1, to: path, isLast: false, api).status == 404)
        #expect(try await dialect.head(path, api).status == 404)
        #expect(try await request("DELETE", path, port: api.port, headers: dialect.named).status == 404)
      }
    }
  }

  @Test("a body whose end is over every number is refused, and the upload goes on", arguments: UploadDialect.allCases)
  func endIsNoNumber(dialect: UploadDialect) async throws {
    func send(_ method: String, _ path: String, _ fields: [(String, String)], _ api: RunningAPI) async throws
      -> ClientResponse
    {
      let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
      return try await exchange(
        "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)Content-Length: \(Int64.max)\r\n"
          + "Expect: 100-continue\r\n\r\n",
        port: api.port)
    }
    try await RunningAPI.with { api in
      // An upload of tus has a length.
      for length in dialect == .tus ? [10] : [nil, 10] {
        let path = try await dialect.create(length, api)
        #expect(try await dialect.send("a", at: 0, to: path, isLast: false, api).status < 300)
        for isLast in [false, true] {
          let refused = try await send("PATCH", path, dialect.part(at: 1, isLast: isLast), api)
          #expect(refused.status == (dialect == .tus || length == nil ? 413 : 400))
        }
        #expect(try await dialect.send("b", at: 1, to: path, isLast: false, api).status < 300)
      }
      for isLast in [false, true] {
        let type = dialect == .tus ? [("Content-Type", UploadDialect.tusContent), ("Upload-Length", "10")] : []
        let fields = dialect.named + dialect.completeness(isLast) + type
        #expect(try await send("POST", "/v1/uploads", fields, api).status == 413)
      }
    }
  }
}
