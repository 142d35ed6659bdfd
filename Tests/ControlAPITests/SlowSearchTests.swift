import HTTPTesting
import Platform
import Postgres
import Testing

@testable import ControlAPI

@Suite("Slow searches", .tags(.database, .network), .timeLimit(.minutes(15)))
struct SlowSearchTests {
  /// An area of nearly the entire map.
  private static let body = Array(
    #"{"polygon":{"type":"Polygon","coordinates":[[[-170,-80],[170,-80],[170,80],[-170,80],[-170,-80]]]}}"#.utf8)

  private static func search(_ api: RunningAPI) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts/search", port: api.port, headers: [("Content-Type", "application/json")], body: body)
  }

  /// A table lock that blocks every list of posts.
  private final class Lock: Sendable {
    private let isHeld = OneShot<Void>()
    private let release: Event

    init() throws { release = try Event() }

    func hold(_ url: DatabaseURL) async throws {
      try await onThread("lock") { [self] in
        // Also fulfilled on an error, so that `wait` returns.
        defer { isHeld.fulfil(()) }
        try Session.connect(url, timeout: .seconds(5)).transaction { session in
          try session.execute("LOCK TABLE post IN ACCESS EXCLUSIVE MODE")
          isHeld.fulfil(())
          release.wait()
        }
      }
    }

    func wait() async { await isHeld.value }

    func unlock() { release.signal() }
  }

  private static func whileLocked(_ api: RunningAPI, _ body: () async throws -> Void) async throws {
    let lock = try Lock()
    async let holding: Void = lock.hold(api.url)
    await lock.wait()
    do {
      try await body()
      lock.unlock()
    } catch {
      lock.unlock()
      throw error
    }
    try await holding
  }

  /// Returns the number of statements that wait for a lock.
  private static func waiting(_ api: RunningAPI) async throws -> Int {
    try await api.pool.run { session in
      try session.execute(
        """
        SELECT count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      ).single().get("count")
    }
  }

  @Test("a search that exceeds its timeout gets 422")
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

  @Test("concurrent slow searches do not delay other requests")
  func manyAtOnce() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .seconds(60)
    try await RunningAPI.with(setting) { api in
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked(api) {
          for _ in 0..<12 { group.addTask { try await Self.search(api).status } }
          while try await Self.waiting(api) == 0 {}
          #expect(try await api.get("/readyz").status == 200)
          #expect(try await api.get("/v1/window").status == 200)
          #expect(try await Self.waiting(api) == 1)
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
        while try await Self.waiting(api) == 0 {}
        disconnect.signal()
        try await client
        while try await Self.waiting(api) > 0 {}
      }
      #expect(try await Self.search(api).status == 200)
    }
  }
}
