import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Slow searches", .tags(.database, .network), .timeLimit(.minutes(60)))
struct SlowSearchTests {
  /// An area of nearly the entire map.
  private static let body = Array(
    #"{"polygon":{"type":"Polygon","coordinates":[[[-170,-80],[170,-80],[170,80],[-170,80],[-170,-80]]]}}"#.utf8)

  private static func search(_ api: RunningAPI) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts/search", port: api.port, headers: [("Content-Type", "application/json")], body: body)
  }

  /// Runs a body while every list of posts waits.
  private static func whileLocked(_ api: RunningAPI, _ body: () async throws -> Void) async throws {
    try await api.whileLocked("post", in: "ACCESS EXCLUSIVE MODE", body)
  }

  @Test("a search of a large area that exceeds its timeout gets 422")
  func tooLong() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .milliseconds(50)
    try await RunningAPI.with(setting) { api in
      try await Self.whileLocked(api) {
        let response = try await Self.search(api)
        #expect(response.status == 422)
        #expect(response.json["type"] == .string("urn:take5:problem:query_too_slow"))
      }
      #expect(try await Self.search(api).status == 200)
    }
  }

  @Test("a list that meets a slow database gets 503: only a large area or distance is at fault itself")
  func slowDatabase() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .milliseconds(50)
    try await RunningAPI.with(setting) { api in
      try await Self.whileLocked(api) {
        for query in [
          "", "?author=ada", "?near=13,52", "?near=13,52&sort=distance", "?box=13,52,13.1,52.1", "?place=lake",
        ] {
          let response = try await api.get("/v1/posts\(query)")
          #expect(response.status == 503 && response.headers["retry-after"] != nil, "\(query)")
          #expect(response.json["type"].text == "urn:take5:problem:database_unavailable", "\(query)")
        }
        for query in ["?box=-90,-40,90,40", "?near=13,52&radius=100000&sort=distance"] {
          #expect(try await api.get("/v1/posts\(query)").status == 422, "\(query)")
        }
      }
    }
  }

  @Test("the read of a single record, or of a month, that exceeds its timeout gets 503, and what writes has more time")
  func singleReads() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .milliseconds(50)
    setting.readLimit = .milliseconds(50)
    try await RunningAPI.with(setting) { api in
      let post = try await ListTests.post(api, at: "2026-11-20T01:00:00Z")
      try await Self.whileLocked(api) {
        for path in ["posts/\(post)", "places/lake", "users/ada/calendar?month=2026-11", "posts/\(post)/comments"] {
          let response = try await api.get("/v1/\(path)")
          #expect(response.status == 503 && response.headers["retry-after"] != nil, "\(path)")
          #expect(response.json["type"].text == "urn:take5:problem:database_unavailable", "\(path)")
        }
      }
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked(api) {
          group.addTask { try await request("DELETE", "/v1/posts/\(post)", port: api.port).status }
          try await until { try await api.waitingStatements() != 0 }
        }
        for try await status in group { #expect(status == 204) }
      }
    }
  }

  @Test("months are read as lists are, which leave connections to other requests")
  func months() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .seconds(3600)
    setting.connections = 1
    try await RunningAPI.with(setting) { api in
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked(api) {
          group.addTask { try await api.get("/v1/users/ada/calendar?month=2026-11").status }
          try await until { try await api.waitingStatements() != 0 }
          #expect(try await api.get("/v1/window").status == 200)
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }

  @Test("what reads gets 503 if it waits for a lock for too long, also a list with time left")
  func locks() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .seconds(3600)
    setting.readLockLimit = .milliseconds(50)
    try await RunningAPI.with(setting) { api in
      let post = try await ListTests.post(api, at: "2026-11-20T01:00:00Z")
      try await Self.whileLocked(api) {
        for path in ["/v1/posts", "/v1/posts/\(post)"] {
          let response = try await api.get(path)
          #expect(response.status == 503 && response.headers["retry-after"] != nil, "\(path)")
          #expect(response.json["type"].text == "urn:take5:problem:database_unavailable", "\(path)")
        }
        #expect(try await Self.search(api).status == 503)
      }
      // The same connections wait for as long as it takes when they write.
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked(api) {
          group.addTask {
            try await request("DELETE", "/v1/posts/\(post)", port: api.port).status
          }
          try await until { try await api.waitingStatements() != 0 }
        }
        for try await status in group { #expect(status == 204) }
      }
    }
  }

  @Test(
    "what writes gets 503 if it waits for a lock for too long, and the service itself waits for as long as it takes")
  func locksOfWriters() async throws {
    var setting = RunningAPI.Setting()
    setting.requestLockLimit = .milliseconds(50)
    try await RunningAPI.with(setting) { api in
      let post = try await ListTests.post(api, at: "2026-11-20T01:00:00Z")
      let path = "/v1/posts/\(post)"
      try await withThrowingTaskGroup(of: Int.self) { group in
        // Who reads does not meet this lock.
        try await api.whileLocked("post", in: "EXCLUSIVE MODE") {
          let response = try await request("DELETE", path, port: api.port)
          #expect(response.status == 503 && response.headers["retry-after"] != nil)
          #expect(response.json["type"].text == "urn:take5:problem:database_unavailable")
          let pool = api.pool
          group.addTask { try await pool.run { try $0.execute("UPDATE post SET title = 'Now'").affected } }
          try await until { try await api.waitingStatements() != 0 }
          #expect(try await api.get(path).status == 200)
        }
        for try await changed in group { #expect(changed == 1) }
      }
      #expect(try await request("DELETE", path, port: api.port).status == 204)
    }
  }

  @Test("requests that read behind a lock leave connections to others")
  func reserved() async throws {
    var setting = RunningAPI.Setting(key: "k1")
    setting.connections = 4
    setting.reservedConnections = 1
    try await RunningAPI.with(setting) { api in
      var readers: [[(String, String)]] = []
      for user in ["ada", "bob", "eve"] { readers.append(try await api.token(of: user, minter: .operatorKey).header) }
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked(api) {
          for reader in readers {
            for _ in 0..<5 {
              group.addTask { try await api.get("/v1/posts/\(PublicID(high: 1, low: 1))", headers: reader).status }
            }
          }
          try await until { try await api.waitingStatements() >= 3 }
          #expect(try await api.get("/readyz").status == 200)
          #expect(try await api.waitingStatements() == 3)
        }
        for try await status in group { #expect(status == 404) }
      }
    }
  }

  @Test("concurrent slow searches do not delay other requests")
  func manyAtOnce() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .seconds(60)
    try await RunningAPI.with(setting) { api in
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked(api) {
          for _ in 0..<12 { group.addTask { try await Self.search(api).status } }
          try await until { try await api.waitingStatements() != 0 }
          #expect(try await api.get("/readyz").status == 200)
          #expect(try await api.get("/v1/window").status == 200)
          #expect(try await api.waitingStatements() == 1)
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }

  @Test("a search is cancelled when its client disconnects")
  func abandoned() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .seconds(3600)
    try await RunningAPI.with(setting) { api in
      try await Self.whileLocked(api) {
        let port = api.port
        let sent = OneShot<Void>()
        let disconnect = try Event()
        async let client: Void = onThread("client") {
          defer { sent.fulfil(()) }
          let connection = try ClientConnection(port: port)
          try connection.send(
            "POST /v1/posts/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + "Content-Length: \(Self.body.count)\r\n\r\n")
          try connection.send(Self.body)
          sent.fulfil(())
          disconnect.wait()
        }
        await sent.value
        try await until { try await api.waitingStatements() != 0 }
        disconnect.signal()
        try await client
        try await until { try await api.waitingStatements() == 0 }
      }
      #expect(try await Self.search(api).status == 200)
    }
  }
}
