import Glibc
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import EmbeddedPostgres

@Suite("Orphaned processes", .tags(.database, .process), .timeLimit(.minutes(60)))
struct OrphansTests {
  private let folder: TemporaryFolder
  private var data: String { "\(folder.path)/data" }

  init() throws { folder = try TemporaryFolder() }

  enum State: CaseIterable { case stopped, busy }

  @Test("the owner kills orphaned backends before it restarts the server", arguments: State.allCases)
  func sameOwner(state: State) async throws {
    let owner = try OwnerProcess(dataFolder: data)
    let url = try owner.url
    let postmaster = owner.server
    let server = try #require(postmaster)
    let backend = try await occupy(url, state)
    #expect(kill(server, SIGKILL) == 0)
    try await expectGone(backend, url)
    #expect(owner.end() == .exited(0))
  }

  @Test("the next owner kills orphaned backends before it starts the server", arguments: State.allCases)
  func nextOwner(state: State) async throws {
    let owner = try OwnerProcess(dataFolder: data)
    let backend = try await occupy(try owner.url, state)
    let postmaster = owner.server
    let server = try #require(postmaster)
    // Stop the postmaster first, so that neither it nor the owner ends the backends.
    #expect(kill(server, SIGSTOP) == 0)
    owner.kill()
    #expect(kill(server, SIGKILL) == 0)
    var configuration = EmbeddedPostgres.Configuration(dataFolder: data)
    configuration.isDurable = false
    let next = try await onThread("next") { [configuration] in try EmbeddedPostgres.start(configuration) }
    try await expectGone(backend, next.url)
    next.stop()
  }

  @Test("another program with the same working directory is not killed")
  func bystander() throws {
    let server = try EmbeddedPostgres.start(.init(dataFolder: data))
    server.stop()
    var configuration = ChildProcess.Configuration(path: "/bin/sleep", arguments: ["600"])
    configuration.directory = "\(data)/postgres/data"
    configuration.parentDeathSignal = 0
    let bystander = try ChildProcess(configuration)
    let id = bystander.id
    #expect(OrphanedServer(process: id, cluster: "\(data)/postgres/data").isRunning)
    try OrphanedProcesses(cluster: "\(data)/postgres/data").end()
    #expect(kill(id, 0) == 0)
    bystander.send(signal: SIGTERM)
    let ending = bystander.wait()
    #expect(ending == .killed(signal: SIGTERM))
  }

  /// Stops a backend or keeps it busy, so that it runs on without its postmaster; returns its process id.
  private func occupy(_ url: DatabaseURL, _ state: State) async throws -> Int32 {
    let connection = try Connection(url, name: "occupied")
    let backend = try await connection.run { session in
      Int32(try session.execute("SELECT pg_backend_pid()").single().get(0, as: Int.self))
    }
    switch state {
    case .stopped: #expect(kill(backend, SIGSTOP) == 0)
    case .busy:
      let isBusy = OneShot<Void>()
      // Fails when the backend is killed.
      Task {
        _ = try? await connection.run { session in
          isBusy.fulfil(())
          return try session.execute("SELECT count(*) FROM generate_series(1, 1000000000000)").count
        }
      }
      await isBusy.value
      let observer = try Session.connect(url, timeout: .seconds(5))
      try await until {
        try !observer.execute(
          "SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND query LIKE '%generate_series%'",
          .integer(Int64(backend))
        ).isEmpty
      }
    }
    return backend
  }

  private func expectGone(_ backend: Int32, _ url: DatabaseURL) async throws {
    let one = try await onThread("query") {
      try Session.connect(url, timeout: .seconds(30)).execute("SELECT 1").single().get(0, as: Int.self)
    }
    #expect(one == 1)
    #expect(!OrphanedServer(process: backend, cluster: "\(data)/postgres/data").isRunning)
  }
}
