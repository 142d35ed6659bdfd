import BoxTesting
import FoundationEssentials
import HTTPTesting
import Platform
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

@Suite("Interim responses of uploads", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UploadInterimTests {
  private static func version(_ version: Int) -> String { "Upload-Draft-Interop-Version: \(version)\r\n" }

  /// The start of a creation with a body of 3 bytes.
  private static func creation(_ fields: String, version: String = "HTTP/1.1") -> String {
    "POST /v1/uploads \(version)\r\nHost: localhost\r\nContent-Length: 3\r\n\(fields)\r\n"
  }

  @Test(
    "a client that asks for it learns the URL of its upload before it sends the body",
    arguments: [(6, "Upload-Complete: ?1\r\n"), (8, "Upload-Complete: ?1\r\n"), (10, "Upload-Complete: ?0\r\n")]
      + [(3, "Upload-Incomplete: ?0\r\n"), (nil, "Upload-Complete: ?1\r\n")] as [(Int?, String)])
  func creation(version: Int?, field: String) async throws {
    try await RunningAPI.with { api in
      let heads = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(Self.creation(field + (version.map(Self.version) ?? "")))
        let interim = try connection.receiveHead()
        try connection.send("abc")
        return [interim, try connection.receiveHead()]
      }
      let interim = try ClientResponse(head: heads[0])
      #expect(interim.status == 104 && interim.headers["content-length"] == nil)
      #expect(interim.headers["upload-draft-interop-version"] == version.map { "\($0)" })
      #expect((interim.headers["upload-limit"] != nil) == (version != 3))
      #expect(interim.headers["upload-offset"] == nil)
      let final = try ClientResponse(head: heads[1])
      #expect(final.status == 201 && final.headers["location"] != nil)
      #expect(interim.headers["location"] == final.headers["location"])
    }
  }

  @Test(
    "other clients get none, nor does any through a proxy",
    arguments: [
      version(99) + "Upload-Complete: ?1\r\n", version(5) + "Upload-Complete: ?1\r\n",
      "Upload-Draft-Interop-Version: x\r\nUpload-Complete: ?1\r\n",
      "Tus-Resumable: 1.0.0\r\nUpload-Length: 3\r\nContent-Type: application/offset+octet-stream\r\n",
    ]
      + [
        "Via: 1.1 x", "Forwarded: for=x", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https",
        "X-Real-IP: 192.0.2.1",
      ].map { version(8) + "Upload-Complete: ?1\r\n\($0)\r\n" })
  func none(fields: String) async throws {
    // Without a key the service accepts no requests through proxies.
    var setting = RunningAPI.Setting()
    setting.key = "k1"
    try await RunningAPI.with(setting) { api in
      let head = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(Self.creation(fields + "Authorization: Bearer k1\r\n") + "abc")
        return try connection.receiveHead()
      }
      #expect(try ClientResponse(head: head).status == 201)
    }
  }

  @Test("a client of HTTP/1.0, a proxy that is known by its address, and a creation without content get none")
  func others() async throws {
    let field = Self.version(8) + "Upload-Complete: ?1\r\n"
    var proxied = RunningAPI.Setting()
    proxied.server.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
    for (setting, start) in [
      (RunningAPI.Setting(), Self.creation(field, version: "HTTP/1.0") + "abc"),
      (proxied, Self.creation(field) + "abc"),
      (RunningAPI.Setting(), "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\(field)\r\n"),
    ] {
      try await RunningAPI.with(setting) { api in
        let head = try await onThread("client") {
          var connection = try ClientConnection(port: api.port)
          try connection.send(start)
          return try connection.receiveHead()
        }
        #expect(try ClientResponse(head: head).status == 201)
      }
    }
  }

  @Test("a client of the current draft learns what is on the disk while it appends, and of another one does not")
  func progress() async throws {
    try await RunningAPI.with { api in
      let (count, part) = (9 << 20, 4 << 20)
      let clip = boxedClip(bytes: count)
      let path = try await UploadDialect.draft.create(nil, api)
      let lines = { @Sendable (dialect: UploadDialect) in
        dialect.part(at: 0, isLast: true).map { "\($0.0): \($0.1)\r\n" }.joined()
      }
      let heads = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(
          "PATCH \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n\(lines(.draft))\r\n")
        var heads: [String] = []
        for index in 0..<2 {
          // The client sends no more before it knows that this much is on the disk.
          try connection.send(Array(clip[index * part..<(index + 1) * part]))
          heads.append(try connection.receiveHead())
        }
        try connection.send(Array(clip[(2 * part)...]))
        return heads + [try connection.receiveHead()]
      }
      let responses = try heads.map { try ClientResponse(head: $0) }
      #expect(responses.map(\.status) == [104, 104, 201])
      let offsets = responses.compactMap { $0.headers["upload-offset"].flatMap { Int($0) } }
      #expect(offsets == offsets.sorted() && offsets.first == part && offsets.last == count)
      for interim in responses.prefix(2) {
        #expect(interim.headers["location"] == nil && interim.headers["upload-limit"] == nil)
        #expect(interim.headers["upload-draft-interop-version"] == "9")
      }
      let other = try await UploadDialect.draft01.create(nil, api)
      let head = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(
          "PATCH \(other) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n\(lines(.draft01))\r\n")
        try connection.send(clip)
        return try connection.receiveHead()
      }
      #expect(try ClientResponse(head: head).status == 201)
    }
  }

  @Test("a creation that is cut after the interim response is not complete, and goes on from there")
  func resumes() async throws {
    try await RunningAPI.with { api in
      let location = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(Self.creation(Self.version(6) + "Upload-Complete: ?1\r\n"))
        let interim = try ClientResponse(head: try connection.receiveHead())
        try connection.send("a")
        return interim.headers["location"]
      }
      let path = String(try #require(location).dropFirst("http://localhost".count))
      let head = try await UploadDialect.draft.head(path, api)
      #expect(head.headers["upload-complete"] == "?0" && head.headers["upload-length"] == "3")
      let offset = try #require(head.headers["upload-offset"].flatMap { Int($0) })
      let rest = String("abc".dropFirst(offset))
      #expect(try await UploadDialect.draft.send(rest, at: offset, to: path, isLast: true, api).status == 201)
    }
  }

  @Test("a client that waits for 100 gets both; a refusal comes before any byte")
  func continues() async throws {
    try await RunningAPI.with { api in
      let heads = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(Self.creation(Self.version(8) + "Upload-Complete: ?1\r\nExpect: 100-continue\r\n"))
        let heads = [try connection.receiveHead(), try connection.receiveHead()]
        try connection.send("abc")
        return heads + [try connection.receiveHead()]
      }
      #expect(try heads.map { try ClientResponse(head: $0).status } == [104, 100, 201])
      let path = try await UploadDialect.draft.create(nil, api)
      for (fields, status) in [
        ("Upload-Offset: 7\r\nContent-Type: application/partial-upload\r\nUpload-Complete: ?1\r\n", 409),
        ("Upload-Offset: 0\r\nContent-Type: text/plain\r\nUpload-Complete: ?1\r\n", 415),
      ] {
        let head = try await onThread("client") {
          var connection = try ClientConnection(port: api.port)
          try connection.send(
            "PATCH \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\(fields)\r\n")
          return try connection.receiveHead()
        }
        #expect(try ClientResponse(head: head).status == status)
      }
    }
  }
}
