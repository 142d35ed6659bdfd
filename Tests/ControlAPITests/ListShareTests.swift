import HTTPServer
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Store
import Testing

@testable import ControlAPI

/// What one client occupies of the connections for lists.
@Suite("Shares of lists", .tags(.database, .network), .timeLimit(.minutes(15)))
struct ListShareTests {
  private static func with(
    _ timeout: Duration, _ body: (RunningAPI, [String: [(String, String)]]) async throws -> Void
  ) async throws {
    var setting = RunningAPI.Setting(key: "k1")
    setting.searchLimit = .seconds(3600)
    setting.listConnections = 4
    setting.listTimeout = timeout
    try await RunningAPI.with(setting) { api in
      var headers = ["": [("Authorization", "Bearer k1")]]
      for user in ["ada", "bob", "carl"] { headers[user] = try await api.token(of: user, minter: .operatorKey).header }
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
            #expect(try await api.get("/v1/places", headers: headers[user] ?? []).status == 200, "\(user)")
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
      let (ada, bob, carl) = (headers["ada"] ?? [], headers["bob"] ?? [], headers["carl"] ?? [])
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await api.whileLocked("post", in: "ACCESS EXCLUSIVE MODE") {
          for _ in 0..<2 { group.addTask { try await api.get("/v1/posts", headers: ada).status } }
          try await until { try await api.waitingStatements() >= 2 }
          let own = try await api.get("/v1/posts", headers: ada)
          #expect(own.status == 429 && own.headers["retry-after"] != nil)
          #expect(UserClient.kind(own) == "too_many_requests")
          for _ in 0..<2 { group.addTask { try await api.get("/v1/posts", headers: bob).status } }
          try await until { try await api.waitingStatements() >= 4 }
          let others = try await api.get("/v1/places", headers: carl)
          #expect(others.status == 503 && others.headers["retry-after"] != nil)
          #expect(UserClient.kind(others) == "overloaded")
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }

  @Test("clients that wait take turns, and a list whose client has gone is left out")
  func turns() async throws {
    let turns = ListTurns(connections: 1, timeout: .seconds(600))
    let (held, release, order) = (OneShot<Void>(), OneShot<Void>(), Shared<[String]>([]))
    func list(_ user: String) -> Task<Void, any Error> {
      // It runs until it waits for its turn.
      Task.immediate { try await turns.run(for: .user(id: user)) { order.withLock { $0.append(user) } } }
    }
    let first = Task {
      try await turns.run(for: .key("1")) {
        held.fulfil(())
        await release.value
      }
    }
    await held.value
    let waiting = ["ada", "ada", "ada", "bob", "ada", "carl", "bob"].map(list)
    waiting[1].cancel()
    release.fulfil(())
    try await first.value
    var cancelled = 0
    for task in waiting {
      do { try await task.value } catch is CancellationError { cancelled += 1 }
    }
    #expect(cancelled == 1)
    #expect(order.withLock { $0 } == ["ada", "bob", "carl", "ada", "bob", "ada"])
  }

  @Test("a user has a share of lists that wait as well")
  func waiting() async throws {
    let turns = ListTurns(connections: 1, timeout: .seconds(600))
    let (held, release) = (OneShot<Void>(), OneShot<Void>())
    let ada = ShareHolder.user(id: "ada")
    let first = Task {
      try await turns.run(for: ada) {
        held.fulfil(())
        await release.value
      }
    }
    await held.value
    let waiting = (0..<32).map { _ in Task.immediate { try await turns.run(for: ada) {} } }
    let problem = await #expect(throws: Problem.self) { try await turns.run(for: ada) {} }
    #expect(problem?.type == ProblemKind.tooManyRequests.type)
    release.fulfil(())
    for task in [first] + waiting { try await task.value }
  }
}
