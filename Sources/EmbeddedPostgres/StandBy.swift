import Platform

/// Waits on a thread of its own until the owner ends, and becomes the owner.
final class StandBy: Sendable {
  private struct State {
    var server: OwnedServer?
    var isStopping = false
  }

  private let ownership: Ownership
  private let configuration: EmbeddedPostgres.Configuration
  private let state = Locked(State())
  private let stopRequested: Event
  private let ended: Event

  private static let interval = Duration.milliseconds(100)
  private static let maxPause = Duration.seconds(10)

  init(_ ownership: Ownership, _ configuration: EmbeddedPostgres.Configuration) throws(SystemError) {
    self.ownership = ownership
    self.configuration = configuration
    stopRequested = try Event()
    ended = try Event()
  }

  /// Starts the thread, which runs until this process is the owner, or until `stop()`.
  func start() throws(SystemError) {
    try NamedThread(name: "standby") { self.run() }.detach()
  }

  /// The server, once this process owns it.
  var server: OwnedServer? { state.withLock { $0.server } }

  /// Stops the thread, and the server if this process owns it; call it only after `start()`.
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
        guard let lock = try ownership.take() else { continue }
        configuration.report("the owner of PostgreSQL has ended; this process takes over")
        try takeOver(lock)
        return
      } catch {
        // Another stand-by, such as one of another user, may succeed meanwhile.
        configuration.report("taking over PostgreSQL failed: \(error)")
        pause = min(pause * 2, Self.maxPause)
      }
    }
  }

  private func takeOver(_ lock: FileLock) throws(EmbeddedPostgresError) {
    let server = try OwnedServer(in: ownership.folder, lock, configuration)
    let isStopping = state.withLock { state in
      state.server = server
      return state.isStopping
    }
    // A `stop()` before the server was known could not stop it.
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
