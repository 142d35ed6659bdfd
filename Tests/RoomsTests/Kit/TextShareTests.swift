import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import Telemetry
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// Text that clients store has a share for each, and the database has room for it.
@Suite("Shares of text", .tags(.database, .network), .timeLimit(.minutes(60)))
struct TextShareTests {
  @Test("a user has a share, the users of one address one together, and a client that serves many none by its address")
  func shares() throws {
    var configuration = RateLimits.Configuration()
    (configuration.textOfUser, configuration.textOfAddress) = (1 << 20, 2 << 20)
    let time = Locked(0.0)
    let limits = RateLimits(configuration, now: { time.withLock(\.self) })
    let address = try #require(IPAddress("192.0.2.1"))
    func store(_ bytes: Int64, as user: String, from address: IPAddress?) -> Bool {
      (try? limits.countText(bytes, of: user, tenant: "", from: address)) != nil
    }
    #expect(store(1 << 20, as: "ada", from: address) && !store(1, as: "ada", from: address))
    #expect(store(1 << 20, as: "bob", from: address))
    // The address has none left, and a back-end has no address.
    #expect(!store(1, as: "eve", from: address) && store(1 << 20, as: "dora", from: nil))
    // What the address refuses is left elsewhere.
    #expect(!store(1 << 20, as: "eve", from: address) && store(1 << 20, as: "eve", from: IPAddress("192.0.2.2")))
    time.withLock { $0 += 86_400 }
    #expect(store(1 << 20, as: "ada", from: address))
  }

  @Test("a comment counts by its length, twice with a key of idempotency, and one above the share gets 429")
  func comments() async throws {
    var setting = RunningAPI.Setting()
    setting.limits.textOfUser = 30_000
    try await RunningAPI.with(setting) { api in
      let post = try await UserClient.send(
        "POST", "/v1/posts", [], #"{"kind":"marker","author":"ada","title":"Here"}"#, api)
      let path = "/v1/posts/\(try #require(post.json["id"].text))/comments"
      func comment(_ user: String, _ headers: [(String, String)] = []) async throws -> Int {
        let text = String(repeating: "a", count: 4900)
        return try await UserClient.send("POST", path, headers, #"{"author":"\#(user)","text":"\#(text)"}"#, api).status
      }
      var statuses: [Int] = []
      for _ in 0..<7 { statuses.append(try await comment("bob")) }
      #expect(statuses == Array(repeating: 201, count: 6) + [429])
      statuses = []
      for index in 0..<4 { statuses.append(try await comment("eve", [("Idempotency-Key", "k\(index)")])) }
      #expect(statuses == [201, 201, 201, 429])
    }
  }

  @Test("nothing more is stored in a database without room, and what frees it goes on")
  func room() async throws {
    try await RunningAPI.with { api in
      for (measure, isFull) in [
        (DatabaseSpace.Measure.size(atMost: 1), true), (.size(atMost: .max), false),
        (.free(folder: "/", atLeast: .max), true), (.free(folder: "/", atLeast: 0), false),
      ] {
        let space = DatabaseSpace(measure)
        let following = Task { await space.follow(api.pool, Logger { _ in }) }
        func isRefused() -> Bool { (try? space.check()) == nil }
        if isFull { try await until("there is no room") { isRefused() } }
        #expect(isRefused() == isFull)
        following.cancel()
        await following.value
      }
    }
  }
}
