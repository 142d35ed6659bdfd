import Glibc
import Platform

/// Keeps the server running from one permanent thread: the server is told to end when that thread ends.
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

  // A server that ends this often before it ever served will not serve.
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

  /// Starts the thread, which makes the cluster if need be and starts the server.
  func start() throws(SystemError) {
    try NamedThread(name: "postgres-server") { self.supervise() }.detach()
  }

  /// The server's process id while it runs.
  var process: Int32? { state.withLock { $0.process } }

  /// Why the server never came up.
  var failure: EmbeddedPostgresError? { state.withLock { $0.failure } }

  /// To be called when the first connection succeeded: from now on the server is restarted without end.
  func markReady() { state.withLock { $0.wasReady = true } }

  /// Ends the server, fast at first, and waits for its end; any number of callers, any number of times.
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

  // While the id stands in the state the child is not reaped: the signal can reach nobody else.
  private func send(_ signal: Int32) {
    state.withLock { state in
      if let process = state.process { _ = kill(process, signal) }
    }
  }

  /// Whether it was asked to stop.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  private func supervise() {
    defer { ended.signal() }
    var failedStarts = 0
    var pause = Duration.milliseconds(100)
    do {
      try cluster.make(with: binaries)
      while !isStopping {
        let began = ContinuousClock.now
        let logged = SmallFile.size(of: cluster.layout.logFile)
        do {
          let ending = try runOnce()
          if isStopping { return }
          if state.withLock({ $0.wasReady }) {
            report("PostgreSQL ended unexpectedly (\(ending)); it is started anew")
          } else {
            failedStarts += 1
            guard failedStarts < Self.maxFailedStarts else { throw neverServed(ending, since: logged) }
          }
        } catch {
          // It has served, and somebody waits for it: what is in its way may pass.
          guard state.withLock({ $0.wasReady }) else { throw error }
          report("PostgreSQL cannot be started anew: \(EmbeddedPostgresError(causedBy: error))")
        }
        // A server that keeps dying must not spin.
        if ContinuousClock.now - began > .seconds(60) { pause = .milliseconds(100) }
        stopRequested.wait(for: pause)
        pause = min(pause * 2, .seconds(5))
      }
    } catch {
      // Whoever waits for it throws it.
      let failure = EmbeddedPostgresError(causedBy: error)
      state.withLock { $0.failure = failure }
    }
  }

  private func runOnce() throws -> ChildProcess.Ending {
    try OrphanedServer.find(in: cluster.layout)?.stop()
    try Orphans(cluster: cluster.layout.cluster).end()
    let child = try cluster.start(with: binaries)
    let id = child.id
    let isLate = state.withLock { state in
      state.process = id
      return state.isStopping
    }
    // Who stopped us before the id was known could not signal.
    if isLate { child.send(signal: SIGINT) }
    child.waitForEnd()
    state.withLock { $0.process = nil }
    return child.wait()
  }

  private func neverServed(_ ending: ChildProcess.Ending, since position: Int64) -> EmbeddedPostgresError {
    let log = cluster.layout.logFile
    guard let failure = StartFailure(log: SmallFile.text(of: log, from: position)) else {
      return EmbeddedPostgresError(
        "PostgreSQL ends as soon as it starts (\(ending)) and does not say why", remedy: "See \(log)")
    }
    return EmbeddedPostgresError(
      "PostgreSQL cannot start: \(failure.message)",
      remedy: failure.remedy.map { "\($0). All that it said is in \(log)" } ?? "See \(log)")
  }
}
