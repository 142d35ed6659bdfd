import Glibc
import HTTPTesting
import MediaFixtures
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Clients that occupy what others need: docs/limits.md, "What one client can occupy".
///
/// Each of them gets 429 or 503 with `Retry-After` beyond its share, and a healthy client is served all the time.
@Suite("Attackers", .tags(.process), .timeLimit(.minutes(60)))
struct AttackerTests {
  /// Whether a response is a refusal that says when to send the request again.
  private static func isRefusal(_ response: ClientResponse) -> Bool {
    (response.status == 429 || response.status == 503) && Int(response.headers["retry-after"] ?? "") != nil
  }

  // MARK: What is held

  /// What a user begins and does not end, and the share of it.
  enum Holding: String, CaseIterable, CustomTestStringConvertible {
    case requests = "requests in progress"
    case submissions = "submissions that are received"
    case parts = "parts of uploads"
    case streams = "streams of events"
    case exports = "exports that are sent"

    var testDescription: String { rawValue }

    var share: Int {
      switch self {
      case .requests, .parts: 64
      case .submissions, .streams: 16
      case .exports: 1
      }
    }

    func begin(_ count: Int, _ attacker: Attacker) throws {
      switch self {
      case .requests:
        try attacker.begin(
          count, "POST /v1/posts/search HTTP/1.1\r\nContent-Type: application/json", length: 1000)
      case .submissions:
        try attacker.begin(
          count, "POST /v1/posts HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x", length: 30_000_000)
      case .parts:
        try attacker.begin(count, "POST /v1/uploads HTTP/1.1\r\nUpload-Complete: ?1", length: 30_000_000)
      case .streams: try attacker.stream(count, "/v1/events")
      case .exports: try attacker.stream(count, "/v1/users/mallory/export")
      }
    }

    /// The options of the service.
    var options: [String] { self == .parts ? ["--user-open-uploads", "100", "--user-open-mib", "10000"] : [] }

    /// The table without which it does not end.
    var table: String? { self == .exports ? "place_note" : nil }
  }

  @Test("beyond its share a user gets 429, whatever it holds, and others are served", arguments: Holding.allCases)
  func holding(_ holding: Holding) async throws {
    let scene = try await AttackScene(holding.options)
    @Sendable func attack() throws {
      let attacker = scene.attacker()
      try holding.begin(holding.share, attacker)
      #expect(attacker.refused.isEmpty && attacker.count == holding.share, "\(attacker.refused)")
      // From another address it is the same user.
      let elsewhere = scene.attacker(from: "127.0.0.67")
      try holding.begin(4, elsewhere)
      #expect(elsewhere.count == 0, "\(holding)")
      #expect(elsewhere.refused.allSatisfy { $0.status == 429 && Self.isRefusal($0) })
      #expect(try scene.healthy.isServed())
      attacker.leave()
      elsewhere.leave()
    }
    if let table = holding.table {
      try await scene.service.locking(table, attack)
    } else {
      try await onThread("attacker", attack)
    }
    try await scene.stop()
  }

  @Test("the silent connections of an address are closed beyond its share, and other addresses are served")
  func connections() async throws {
    let scene = try await AttackScene(["--address-connections", "40"])
    try await onThread("attacker") {
      let attacker = scene.attacker()
      try attacker.connect(200)
      #expect(try scene.healthy.isServed())
      try attacker.waitUntilEnded(160)
      #expect(try scene.healthy.isServed())
    }
    try await scene.stop()
  }

  @Test("the uploads that a user leaves open are limited, and a byte of each takes one step of its space")
  func openUploads() async throws {
    let scene = try await AttackScene()
    var responses: [ClientResponse] = []
    for _ in 0..<40 {
      let headers = [
        ("Authorization", "Bearer \(scene.token)"), ("Upload-Complete", "?0"), ("Upload-Length", "33554432"),
      ]
      responses.append(
        try await request("POST", "/v1/uploads", port: scene.api.port, headers: headers, body: Array("x".utf8)))
    }
    let refused = responses.filter { $0.status != 201 }
    #expect(responses.count - refused.count <= 32 && !refused.isEmpty)
    #expect(refused.allSatisfy { $0.status == 429 && Self.isRefusal($0) })
    #expect(try Self.reservedBytes(in: "\(scene.service.data)/blobs/uploads") <= 33 << 22)
    let healthy = scene.healthy
    #expect(try await onThread("healthy") { try healthy.isServed() })
    try await scene.stop()
  }

  // MARK: What is asked for

  @Test("requests that wait for a job do so in a share, and the others get 429 at once")
  func waits() async throws {
    let scene = try await AttackScene()
    let form = API.form([
      ("kind", Array("take5".utf8)), ("front", try TemporaryFile.bytes(of: Clips.front.write())),
      ("back", try TemporaryFile.bytes(of: Clips.back.write())),
    ])
    let post = try await request(
      "POST", "/v1/posts", port: scene.api.port,
      headers: [("Authorization", "Bearer \(scene.token)"), ("Content-Type", form.contentType)], body: form.bytes)
    let job = try #require(API.Response(response: post)["job", "url"]?.text)
    try await onThread("attacker") {
      let attacker = scene.attacker()
      try attacker.ask(24, "GET \(job)?wait=20 HTTP/1.1")
      #expect(try scene.healthy.isServed())
      let responses = try attacker.finish()
      let refused = responses.filter { $0.status != 200 }
      #expect(refused.count == 8)
      #expect(refused.allSatisfy { $0.status == 429 && Self.isRefusal($0) })
    }
    try await scene.stop()
  }

  @Test("lists that are slow leave connections of the database to the lists of others")
  func lists() async throws {
    let scene = try await AttackScene()
    try await scene.service.locking("place") {
      let attacker = scene.attacker()
      try attacker.ask(60, "GET /v1/places?box=-180,-90,180,90 HTTP/1.1")
      #expect(try scene.healthy.isServed())
      let responses = try attacker.finish()
      // Of those in the share the statement timeout of lists ends each.
      #expect(responses.contains { $0.status == 429 })
      #expect(responses.allSatisfy { $0.status == 422 || Self.isRefusal($0) })
    }
    try await scene.stop()
  }

  @Test("a log that is not read makes no other client wait, however many lines a client causes")
  func unreadLog() async throws {
    let log = try UnreadLog()
    let scene = try await AttackScene(program: log.program, in: log.folder)
    try await onThread("attacker") {
      let attacker = scene.attacker()
      let path = "/v1/posts/" + String(repeating: "x", count: 4000)
      for _ in 0..<10 {
        try attacker.ask(40, "GET \(path) HTTP/1.1")
        #expect(try attacker.finish().allSatisfy { $0.status == 404 })
      }
      #expect(try scene.healthy.isServed())
    }
    try await scene.stop()
  }

  @Test("bodies of nested JSON, with a credential or without, are refused, and cost others nothing that they notice")
  func nestedJSON() async throws {
    let scene = try await AttackScene()
    let levels = String(repeating: #"{"a":"#, count: 12)
    let inner = "[" + Array(repeating: "[{}]", count: 12_000).joined(separator: ",") + "]"
    let body = levels + inner + String(repeating: "}", count: 12)
    try await onThread("attacker") {
      let attacker = Attacker(port: scene.api.port)
      for path in ["/v1/sessions", "/v1/accounts"] { try attacker.ask(16, "POST \(path) HTTP/1.1", body: body) }
      // Those of a user are read.
      let user = scene.attacker()
      try user.ask(16, "POST /v1/posts/search HTTP/1.1", body: body)
      #expect(try scene.healthy.isServed())
      #expect(try attacker.finish().allSatisfy { $0.status == 400 || $0.status == 413 || Self.isRefusal($0) })
      #expect(try user.finish().allSatisfy { $0.status == 400 || Self.isRefusal($0) })
    }
    try await scene.stop()
  }

  @Test("short bodies that do not come to their end get 408, from however many addresses")
  func slowBodies() async throws {
    let scene = try await AttackScene()
    try await onThread("attacker") {
      let attackers = (100..<110).map { Attacker(port: scene.api.port, from: "127.0.1.\($0)") }
      for attacker in attackers {
        try attacker.trickle(
          10, "POST /v1/sessions HTTP/1.1\r\nContent-Type: application/json", length: 1000)
      }
      #expect(try scene.healthy.isServed())
      for attacker in attackers {
        #expect(try attacker.finish().allSatisfy { $0.status == 408 || Self.isRefusal($0) })
      }
    }
    try await scene.stop()
  }

  @Test("who guesses the password of a user does not keep the user out, who has signed in elsewhere")
  func signIns() async throws {
    let scene = try await AttackScene()
    let account = #"{"user_name":"victim","password":"correct horse"}"#
    let wrong = #"{"user_name":"victim","password":"battery staple"}"#
    try await onThread("attacker") {
      let victim = Attacker(port: scene.api.port, from: "127.0.0.88")
      try victim.ask(1, "POST /v1/accounts HTTP/1.1", body: account)
      #expect(try victim.finish().allSatisfy { $0.status == 201 })
      let attacker = Attacker(port: scene.api.port)
      try attacker.ask(40, "POST /v1/sessions HTTP/1.1", body: wrong)
      #expect(try scene.healthy.isServed())
      let responses = try attacker.finish()
      #expect(responses.contains { $0.status == 429 })
      #expect(responses.allSatisfy { $0.status == 401 || Self.isRefusal($0) })
      try victim.ask(1, "POST /v1/sessions HTTP/1.1", body: account)
      #expect(try victim.finish().map(\.status) == [201])
    }
    try await scene.stop()
  }

  @Test("an address has six times --address-attempts at once, registrations included")
  func addressAttempts() async throws {
    let scene = try await AttackScene(["--address-attempts", "2"])
    try await onThread("attacker") {
      let attacker = Attacker(port: scene.api.port)
      for number in 0..<13 {
        let path = number < 2 ? "accounts" : "sessions"
        let body = #"{"user_name":"guess\#(number)","password":"battery staple"}"#
        try attacker.ask(1, "POST /v1/\(path) HTTP/1.1", body: body)
      }
      let responses = try attacker.finish()
      // It gets one back after half a minute.
      let refused = responses.filter { $0.status == 429 }
      #expect(refused.count == 1 && refused.allSatisfy(Self.isRefusal))
      #expect(responses.count { $0.status == 201 } <= 2 && responses.count { $0.status == 401 } >= 10)
    }
    try await scene.stop()
  }

  @Test("an address has as many attempts at the keys of the console, apart from the attempts of the users there")
  func consoleAttempts() async throws {
    let scene = try await AttackScene(["--address-attempts", "2"])
    try await onThread("attacker") {
      let attacker = Attacker(port: scene.api.port)
      for number in 0..<13 { try attacker.ask(1, "POST /console/session HTTP/1.1", body: #"{"key":"t5_\#(number)"}"#) }
      try attacker.ask(
        1, "POST /v1/sessions HTTP/1.1", body: #"{"user_name":"guess","password":"battery staple"}"#)
      let responses = try attacker.finish()
      let refused = responses.filter { $0.status == 429 }
      #expect(refused.count == 1 && refused.allSatisfy(Self.isRefusal))
      #expect(responses.count { $0.status == 401 } == 13)
    }
    try await scene.stop()
  }

  /// The bytes that the files of a folder take of the disk.
  private static func reservedBytes(in folder: String) throws -> Int {
    try Folders.files(below: folder).reduce(0) { sum, path in
      var status = stat()
      guard lstat(path, &status) == 0 else { return sum }
      return sum + Int(status.st_blocks) * 512
    }
  }

  // MARK: The document

  @Test("each row of the document names an attack here, or a test without a process")
  func rows() {
    let withoutProcess = [
      "connections that stay open when", "threads of handlers", "submissions that wait for",
      "text that is stored a day",
      "mails with codes", "registrations that the operator", "received bytes that no request",
      "passwords that are hashed", "bytes of responses",
    ]
    for cells in LimitsDocumentTests.shares {
      let hasAttack = cells[8].contains("`AttackerTests.")
      #expect(hasAttack != withoutProcess.contains { cells[0].hasPrefix($0) }, "\(cells[0])")
    }
  }
}
