import HTTPTesting
import Platform
import Postgres
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Shared checks", .timeLimit(.minutes(60)))
struct SharedCheckTests {
  /// The clients that have asked, the checks that run, and how many of these ran at once.
  private final class Counts: Sendable {
    let asked = Locked(0)
    let running = Locked(0)
    let most = Locked(0)
  }

  @Test("clients that ask at the same time share a check, which takes nothing of their shares of the connections")
  func shared() async throws {
    let (clients, check, counts) = (8, SharedCheck<Bool>(), Counts())
    let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<clients {
        group.addTask {
          try await PoolClient.$current.withValue(PoolClient("\(number)", isShared: false)) {
            counts.asked.withLock { $0 += 1 }
            return try await check.run {
              let running = counts.running.withLock { running in
                running += 1
                return running
              }
              counts.most.withLock { $0 = max($0, running) }
              try await until("all clients ask") { counts.asked.withLock { $0 == clients } }
              counts.running.withLock { $0 -= 1 }
              return PoolClient.current == nil
            }
          }
        }
      }
      var answers: [Bool] = []
      for try await answer in group { answers.append(answer) }
      return answers
    }
    #expect(answers == Array(repeating: true, count: clients))
    #expect(counts.most.withLock { $0 } == 1)
  }

  @Test("clients that read the metrics at the same time take one connection", .tags(.database, .network))
  func metrics() async throws {
    var setting = RunningAPI.Setting()
    setting.connections = 4
    try await RunningAPI.with(setting) { api in
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await api.whileLocked("worker", in: "ACCESS EXCLUSIVE MODE") {
          for _ in 0..<12 { group.addTask { try await api.get("/metrics").status } }
          try await until { try await api.waitingStatements() != 0 }
          #expect(try await api.get("/readyz").status == 200)
          #expect(try await api.get("/v1/window").status == 200)
          #expect(try await api.waitingStatements() == 1)
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }
}
