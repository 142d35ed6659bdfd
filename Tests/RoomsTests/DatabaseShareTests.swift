import HTTPServer
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// What one client occupies of the connections to the database.
@Suite("Shares of connections", .tags(.database, .network), .timeLimit(.minutes(60)))
struct DatabaseShareTests {
  private static func with(
    _ timeout: Duration, _ body: (RunningAPI, [String: [(String, String)]]) async throws -> Void
  ) async throws {
    var setting = RunningAPI.Setting(key: "k1")
    setting.searchLimit = .seconds(3600)
    setting.listConnections = 4
    setting.listTimeout = timeout
    try await RunningAPI.with(setting) { api in
      var headers = ["": [("Authorization", "Bearer k1")]]
      for user in ["ada", "bob", "carl", "dora"] {
        headers[user] = try await api.token(of: user, minter: .operatorKey).header
      }
      try await body(api, headers)
    }
  }

  @Test("the slow lists of one user leave connections to others")
  func others() async throws {
    try await Self.with(.seconds(600)) { api, headers in
      let ada = headers["ada"] ?? []
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await api.whileLocked("post", in: "ACCESS EXCLUSIVE MODE") {
          for _ in 0..<6 { group.addTask { try await api.get("/v1/posts", headers: ada).status } }
          try await until { try await api.waitingStatements() >= 2 }
          for user in ["bob", ""] {
            #expect(try await api.get("/v1/users?query=bob", headers: headers[user] ?? []).status == 200, "\(user)")
          }
          #expect(try await api.waitingStatements() == 2)
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }

  @Test("a list beyond the share of its client gets 429, and 503 if others take all connections")
  func timeout() async throws {
    try await Self.with(.milliseconds(20)) { api, headers in
      let (ada, bob, carl, dora) = (
        headers["ada"] ?? [], headers["bob"] ?? [], headers["carl"] ?? [], headers["dora"] ?? []
      )
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await api.whileLocked("post", in: "ACCESS EXCLUSIVE MODE") {
          for _ in 0..<2 { group.addTask { try await api.get("/v1/posts", headers: ada).status } }
          try await until { try await api.waitingStatements() >= 2 }
          let own = try await api.get("/v1/posts", headers: ada)
          #expect(own.status == 429 && own.headers["retry-after"] != nil)
          #expect(UserClient.kind(own) == "too_many_requests")
          // Of what she leaves, others have a half, and one at least.
          for headers in [bob, dora] { group.addTask { try await api.get("/v1/posts", headers: headers).status } }
          try await until { try await api.waitingStatements() >= 4 }
          let second = try await api.get("/v1/posts", headers: bob)
          #expect(second.status == 429 && UserClient.kind(second) == "too_many_requests")
          let others = try await api.get("/v1/users?query=bob", headers: carl)
          #expect(others.status == 503 && others.headers["retry-after"] != nil)
          #expect(UserClient.kind(others) == "overloaded")
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }

  @Test("reads of one user that wait for a lock, of whatever kind, leave connections to others")
  func singleReads() async throws {
    var setting = RunningAPI.Setting(key: "k1")
    setting.connections = 4
    try await RunningAPI.with(setting) { api in
      let (ada, bob) = (
        try await api.token(of: "ada", minter: .operatorKey).header,
        try await api.token(of: "bob", minter: .operatorKey).header
      )
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await api.whileLocked("post", in: "ACCESS EXCLUSIVE MODE") {
          for _ in 0..<12 {
            group.addTask { try await api.get("/v1/posts/\(PublicID(high: 1, low: 1))", headers: ada).status }
          }
          try await until { try await api.waitingStatements() >= 2 }
          for _ in 0..<8 { #expect(try await api.get("/v1/users/bob", headers: bob).status == 404) }
          #expect(try await api.waitingStatements() == 2)
        }
        for try await status in group { #expect(status == 404) }
      }
    }
  }
}
