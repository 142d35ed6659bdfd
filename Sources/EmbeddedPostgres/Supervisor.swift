import Glibc
import Platform

/// Runs the server from one permanent thread, and restarts it; the kernel signals the server when that thread ends.
final class Supervisor: Sendable {
  private struct State {
    var process: Int32?
    var isStopping = false
    var wasReady = false
    var failure: EmbeddedPostgresError?
  }

  private let cluster: Cluster
  private let binaries: Binaries
  private let report: @Sendable (String) -> Void
  private let state = Locked(State())
  private let stopRequested: Event
  private let ended: Event

  // The number of ends before the first connection after which the start has failed.
  private static let maxFailedStarts = 6

  init(
    cluster: Cluster, binaries: Binaries, report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    self.cluster = cluster
    self.binaries = binaries
    self.report = report
    stopRequested = try Event()
    ended = try Event()
  }

  /// Starts the thread, which creates the cluster if it is missing and starts the server.
  func start() throws(SystemError) {
    try NamedThread(name: "postgres-server") { self.supervise() }.detach()
    // The server may run for years; a copy of a large log must not delay what follows its end.
    try NamedThread(name: "postgres-log") {
      while !self.ended.wait(for: .seconds(60)) { ServerLog(path: self.cluster.layout.logFile).rotate() }
    }.detach()
  }

  /// The process id of the server while it runs.
  var process: Int32? { state.withLock { $0.process } }

  /// The error of the start; nil while the server starts or runs.
  var failure: EmbeddedPostgresError? { state.withLock { $0.failure } }

  /// Marks the first successful connection: from now on the server is restarted without limit.
  func markReady() { state.withLock { $0.wasReady = true } }

  /// Stops the server, by a fast shutdown first, and waits for its end; may be called by several threads and
  /// repeatedly.
  func stop() {
    state.withLock { $0.isStopping = true }
    stopRequested.signal()
    send(SIGINT)
    for signal in [SIGQUIT, SIGKILL] {
      if ended.wait(for: .seconds(10)) { return }
      send(signal)
    }
    ended.wait()
  }

  // The child is not reaped while its id is in the state: the signal cannot reach another process.
  private func send(_ signal: Int32) {
    state.withLock { state in
      if let process = state.process { _ = kill(process, signal) }
    }
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  private func supervise() {
    defer { ended.signal() }
    var failedStarts = 0
    var pause = Duration.milliseconds(100)
    do {
      try cluster.create(with: binaries)
      while !isStopping {
        let start = ContinuousClock.now
        let logged = SmallFile.size(of: cluster.layout.logFile)
        do {
          let ending = try runOnce()
          if isStopping { return }
          if state.withLock({ $0.wasReady }) {
            report("PostgreSQL ended unexpectedly (\(ending)); restarting it")
          } else {
            failedStarts += 1
            guard failedStarts < Self.maxFailedStarts else { throw startFailure(ending, since: logged) }
          }
        } catch {
          // Clients wait for a server that has run before: the cause may be transient.
          guard state.withLock({ $0.wasReady }) else { throw error }
          report("PostgreSQL cannot be restarted: \(EmbeddedPostgresError(causedBy: error))")
        }
        // The pause grows if the server keeps ending.
        if ContinuousClock.now - start > .seconds(60) { pause = .milliseconds(100) }
        stopRequested.wait(for: pause)
        pause = min(pause * 2, .seconds(5))
      }
    } catch {
      // `Server.waitUntilReady` throws it.
      let failure = EmbeddedPostgresError(causedBy: error)
      state.withLock { $0.failure = failure }
    }
  }

  private func runOnce() throws -> ChildProcess.Ending {
    try OrphanedServer.find(in: cluster.layout)?.stop()
    try OrphanedProcesses(cluster: cluster.layout.cluster).end()
    let child = try cluster.start(with: binaries)
    let id = child.id
    let isLate = state.withLock { state in
      state.process = id
      return state.isStopping
    }
    // A `stop()` before the id was known could not signal the server.
    if isLate { child.send(signal: SIGINT) }
    child.waitForEnd()
    state.withLock { $0.process = nil }
    return child.wait()
  }

  private func startFailure(_ ending: ChildProcess.Ending, since position: Int64) -> EmbeddedPostgresError {
    let log = cluster.layout.logFile
    guard let failure = StartFailure(log: SmallFile.text(of: log, from: position)) else {
      return EmbeddedPostgresError(
        "PostgreSQL ends during its start (\(ending)) without an error message", remedy: "See \(log)")
    }
    return EmbeddedPostgresError(
      "PostgreSQL cannot start: \(failure.message)",
      remedy: failure.remedy.map { "\($0). The full log is \(log)" } ?? "See \(log)")
  }
}
