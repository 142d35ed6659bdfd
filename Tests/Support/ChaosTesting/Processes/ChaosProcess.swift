import Glibc
package import Platform

/// A program of a run of chaos: it is started, stopped, continued and killed here, and ends with the controller.
package final class ChaosProcess: Sendable {
  private enum Change: Sendable {
    case stopped
    case ended(ChildProcess.Ending)
  }

  private struct State {
    var stops = 0
    var ending: ChildProcess.Ending?
    var waiters: [(stops: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  }

  /// Its process id.
  package let process: Int32
  /// What it is called in reports.
  package let name: String
  private let state: Shared

  // The thread that waits for the child outlives the controller's interest in it.
  private final class Shared: Sendable {
    let state = Locked(State())
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - name: what it is called in reports.
  ///   - log: a file to which its standard error is added.
  package init(
    _ name: String, path: String, arguments: [String], environment: [String: String] = [:], log: String
  ) throws {
    let number = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw SystemError(call: "open", subject: log) }
    let file = OpenFile(Descriptor(owning: number))
    let state = Shared()
    // The child ends with the thread that starts it: that thread waits for it and for nothing else.
    let started = Channel<Result<Int32, SystemError>>(capacity: 1)
    try NamedThread(name: "chaos-process") {
      var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
      configuration.environment = environment
      configuration.directory = "/"
      configuration.descriptors = [nil, file.descriptor.number, file.descriptor.number]
      do throws(SystemError) {
        let child = try ChildProcess(configuration)
        _ = started.put(.success(child.id))
        Self.watch(child, state)
      } catch {
        _ = started.put(.failure(error))
      }
    }.detach()
    guard let process = started.take() else { throw SystemError(call: "exec", code: ECHILD, subject: path) }
    self.process = try process.get()
    self.name = name
    self.state = state
  }

  deinit { kill(SIGKILL) }

  /// Sends a signal, unless it has ended.
  package func kill(_ signal: Int32) {
    state.state.withLock { if $0.ending == nil { _ = Glibc.kill(process, signal) } }
  }

  /// How often it has come to stand still.
  package var stops: Int { state.state.withLock { $0.stops } }

  /// How it ended; nil while it runs.
  package var ending: ChildProcess.Ending? { state.state.withLock { $0.ending } }

  /// Waits until it stands still for the n-th time, the first is 1; false if it ends before, or `limit` passes.
  package func isStopped(times: Int = 1, within limit: Duration) async -> Bool {
    await wait(stops: times, within: limit)
  }

  /// Waits for its end; nil if `limit` passes.
  package func end(within limit: Duration) async -> ChildProcess.Ending? {
    _ = await wait(stops: .max, within: limit)
    return ending
  }

  private func wait(stops: Int, within limit: Duration) async -> Bool {
    let timer = Task { [state] in
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { Self.wake(state) { _ in true } }
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      let known = state.state.withLock { state -> Bool? in
        if state.stops >= stops { return true }
        if state.ending != nil { return false }
        state.waiters.append((stops, continuation))
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  // Lets those go on who wait for what has come about, and those whom `also` names.
  private static func wake(_ shared: Shared, also: (Int) -> Bool) {
    let woken = shared.state.withLock { state in
      let stops = state.stops
      let isOver = state.ending != nil
      let woken = state.waiters.filter { $0.stops <= stops || isOver || also($0.stops) }
      state.waiters.removeAll { $0.stops <= stops || isOver || also($0.stops) }
      return woken.map { ($0.continuation, $0.stops <= stops) }
    }
    for (continuation, isStopped) in woken { continuation.resume(returning: isStopped) }
  }

  private static func watch(_ child: consuming ChildProcess, _ shared: Shared) {
    while true {
      var information = siginfo_t()
      guard waitid(P_PID, id_t(child.id), &information, WEXITED | WSTOPPED | WNOWAIT) == 0 else {
        if errno == EINTR { continue }
        break
      }
      guard information.si_code == Int32(CLD_STOPPED) else { break }
      // Taken out of the list of changes: the next one is new.
      _ = waitid(P_PID, id_t(child.id), &information, WSTOPPED | WNOHANG)
      shared.state.withLock { $0.stops += 1 }
      wake(shared) { _ in false }
    }
    // Not reaped before nobody sends signals to its number any more.
    let child = child
    shared.state.withLock { $0.ending = .exited(-1) }
    let ending = child.wait()
    shared.state.withLock { $0.ending = ending }
    wake(shared) { _ in false }
  }
}
