import Platform

/// Waits for the owner's end and takes its place, on a thread of its own.
final class StandBy: Sendable {
  private struct State {
    var server: OwnedServer?
    var isStopping = false
  }

  private let place: OwnerPlace
  private let configuration: EmbeddedPostgres.Configuration
  private let state = Locked(State())
  private let stopRequested: Event
  private let ended: Event

  private static let interval = Duration.milliseconds(100)
  private static let maxPause = Duration.seconds(10)

  init(_ place: OwnerPlace, _ configuration: EmbeddedPostgres.Configuration) throws(SystemError) {
    self.place = place
    self.configuration = configuration
    stopRequested = try Event()
    ended = try Event()
  }

  /// Starts the thread, which lives until it has taken the owner's place, or until `stop()`.
  func start() throws(SystemError) {
    try NamedThread(name: "postgres-standby") { self.run() }.detach()
  }

  /// The server, since it has become this process's.
  var server: OwnedServer? { state.withLock { $0.server } }

  /// Ends the thread, and the server if it has become this process's; to be called once it was started.
  func stop() {
    let server = state.withLock { state in
      state.isStopping = true
      return state.server
    }
    stopRequested.signal()
    server?.stop()
    ended.wait()
  }

  private func run() {
    defer { ended.signal() }
    var pause = Self.interval
    while !stopRequested.wait(for: pause) {
      do {
        guard let lock = try place.take() else { continue }
        configuration.report("the owner of PostgreSQL has ended; this process takes its place")
        try takeOver(lock)
        return
      } catch {
        // Others who stand by, perhaps as another user, may do better meanwhile.
        configuration.report("the place of PostgreSQL's owner cannot be taken: \(error)")
        pause = min(pause * 2, Self.maxPause)
      }
    }
  }

  private func takeOver(_ lock: FileLock) throws(EmbeddedPostgresError) {
    let server = try OwnedServer(in: place.folder, lock, configuration)
    let isStopping = state.withLock { state in
      state.server = server
      return state.isStopping
    }
    // Who stopped us before the server was known could not stop it.
    if isStopping { server.stop() }
    do throws(EmbeddedPostgresError) {
      try server.waitUntilReady(until: nil)
    } catch {
      state.withLock { $0.server = nil }
      server.stop()
      throw error
    }
  }
}
