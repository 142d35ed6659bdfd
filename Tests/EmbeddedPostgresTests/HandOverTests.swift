import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("The place of the owner", .tags(.database, .process), .timeLimit(.minutes(2)))
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
    try Session.connect(server.url, timeout: .seconds(30)).execute("SELECT value FROM kept").single().get("value")
  }

  enum End: CaseIterable { case orderly, killed }

  @Test(
    "Who is left takes the place of an owner that ends, and the database is back under its address",
    arguments: End.allCases, [true, false])
  func takesOver(end: End, isService: Bool) throws {
    let owner = try OwnerProcess(dataFolder: data)
    let left = try start(isService: isService)
    defer { left.stop() }
    #expect(!left.isOwner)
    try Session.connect(left.url, timeout: .zero)
      .executeScript("CREATE TABLE kept AS SELECT 7 AS value", name: "kept")
    switch end {
    case .orderly: #expect(owner.end() == .exited(0))
    case .killed: owner.kill()
    }
    #expect(try value(left) == 7)
    #expect(left.isOwner)
    // And so on, as often as it happens.
    let next = try start(isService: true)
    defer { next.stop() }
    #expect(!next.isOwner)
    left.stop()
    #expect(try value(next) == 7)
    #expect(next.isOwner)
  }

  @Test("Of services that start at once one owns the server, and the others use it")
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

  @Test("A command starts no server behind a service, and does once none is left")
  func commandBehindService() throws {
    try start(isService: false).stop()
    // A service that lives and has not yet noticed that the owner is gone.
    let service = try #require(try OwnerPlace(folder: data, isService: true).announceService())
    let error = #expect(throws: EmbeddedPostgresError.self) {
      try start(isService: false, timeout: .milliseconds(200))
    }
    #expect(error?.remedy?.contains("postgres.service") == true)
    #expect(Orphans(cluster: "\(data)/postgres/data").processes.isEmpty)
    service.release()
    let command = try start(isService: false)
    #expect(command.isOwner)
    command.stop()
  }

  @Test("A command that stands by leaves the place to services, however long they take")
  func commandStandsBack() throws {
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

  @Test("Who stops at the moment at which the owner ends leaves no server behind")
  func stopsMeanwhile() throws {
    let owner = try OwnerProcess(dataFolder: data)
    let service = try start(isService: true)
    owner.kill()
    service.stop()
    let next = try start(isService: false)
    #expect(next.isOwner)
    next.stop()
    #expect(Orphans(cluster: "\(data)/postgres/data").processes.isEmpty)
  }
}
