import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Ownership", .tags(.database, .process), .timeLimit(.minutes(60)))
struct HandOverTests {
  private let folder: TemporaryFolder
  private var data: String { "\(folder.path)/data" }

  init() throws { folder = try TemporaryFolder() }

  private func start(isService: Bool, timeout: Duration = .seconds(60)) throws -> EmbeddedPostgres {
    var configuration = EmbeddedPostgres.Configuration(dataFolder: data)
    configuration.isDurable = false
    configuration.isService = isService
    configuration.timeout = timeout
    return try EmbeddedPostgres.start(configuration)
  }

  private func value(_ server: EmbeddedPostgres) throws -> Int {
    try Session.connect(server.url, timeout: .seconds(30)).execute("SELECT value FROM item").single().get("value")
  }

  enum End: CaseIterable { case orderly, killed }

  @Test(
    "a stand-by takes over when the owner ends, under the same address",
    arguments: End.allCases, [true, false])
  func takesOver(end: End, isService: Bool) throws {
    let owner = try OwnerProcess(dataFolder: data)
    let standBy = try start(isService: isService)
    defer { standBy.stop() }
    #expect(!standBy.isOwner)
    try Session.connect(standBy.url, timeout: .zero)
      .executeScript("CREATE TABLE item AS SELECT 7 AS value", name: "item")
    switch end {
    case .orderly: #expect(owner.end() == .exited(0))
    case .killed: owner.kill()
    }
    #expect(try value(standBy) == 7)
    #expect(standBy.isOwner)
    // Again.
    let next = try start(isService: true)
    defer { next.stop() }
    #expect(!next.isOwner)
    standBy.stop()
    #expect(try value(next) == 7)
    #expect(next.isOwner)
  }

  @Test("one of several services that start at once owns the server, and the others use it")
  func atOnce() async throws {
    let servers = try await withThrowingTaskGroup(of: EmbeddedPostgres.self) { group in
      for number in 0..<4 {
        group.addTask { try await onThread("service-\(number)") { try start(isService: true) } }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(servers.count { $0.isOwner } == 1)
    #expect(Set(servers.map(\.url)).count == 1)
    for server in servers where !server.isOwner { server.stop() }
    for server in servers { server.stop() }
  }

  @Test("a command starts no server while a service runs, and does once none runs")
  func commandBehindService() throws {
    try start(isService: false).stop()
    // A service that has not noticed yet that the owner has ended.
    let service = try #require(try Ownership(folder: data, isService: true).lockService())
    let error = #expect(throws: EmbeddedPostgresError.self) {
      try start(isService: false, timeout: .milliseconds(200))
    }
    #expect(error?.remedy?.contains("postgres.service") == true)
    #expect(OrphanedProcesses(cluster: "\(data)/postgres/data").processes.isEmpty)
    service.release()
    let command = try start(isService: false)
    #expect(command.isOwner)
    command.stop()
  }

  @Test("a command on stand-by does not take over while a service runs")
  func commandOnStandBy() throws {
    let owner = try OwnerProcess(dataFolder: data)
    let command = try start(isService: false)
    let service = try start(isService: true)
    defer {
      command.stop()
      service.stop()
    }
    owner.kill()
    _ = try Session.connect(command.url, timeout: .seconds(30))
    #expect(service.isOwner)
    #expect(!command.isOwner)
  }

  @Test("a stand-by that stops while the owner ends leaves no server")
  func stopsMeanwhile() throws {
    let owner = try OwnerProcess(dataFolder: data)
    let service = try start(isService: true)
    owner.kill()
    service.stop()
    let next = try start(isService: false)
    #expect(next.isOwner)
    next.stop()
    #expect(OrphanedProcesses(cluster: "\(data)/postgres/data").processes.isEmpty)
  }
}
