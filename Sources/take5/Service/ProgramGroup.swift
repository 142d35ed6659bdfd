import Glibc
import Platform

/// Programs that a command runs and waits for; SIGTERM ends them when the command is cancelled.
final class ProgramGroup: Sendable {
  private struct State {
    var processes: Set<Int32> = []
    var isStopped = false
  }

  private let state = Locked(State())

  /// Runs blocking work that starts programs, on a thread of its own.
  static func run<Result: Sendable>(
    _ work: @escaping @Sendable (ProgramGroup) throws -> Result
  ) async throws -> Result {
    let group = ProgramGroup()
    return try await withTaskCancellationHandler {
      try await onThread("programs") { try work(group) }
    } onCancel: {
      group.stop()
    }
  }

  /// Starts a program, calls `body` while it runs, and waits for its end; it is killed if `body` throws.
  func run(
    _ configuration: ChildProcess.Configuration, _ body: () throws -> Void = {}
  ) throws -> ChildProcess.Ending {
    let child = try ChildProcess(configuration)
    let id = child.id
    let isStopped = state.withLock { state in
      state.processes.insert(id)
      return state.isStopped
    }
    if isStopped { kill(id, SIGTERM) }
    let outcome = Result { try body() }
    if case .failure = outcome { kill(id, SIGKILL) }
    child.waitForEnd()
    // Before the child is reaped: afterwards another process may have the id.
    state.withLock { _ = $0.processes.remove(id) }
    let ending = child.wait()
    try outcome.get()
    return ending
  }

  private func stop() {
    state.withLock { state in
      state.isStopped = true
      for process in state.processes { kill(process, SIGTERM) }
    }
  }
}

extension ChildProcess.Ending {
  /// The end of a program that was expected to succeed, for a message.
  var reason: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .killed(let signal): "was terminated by signal \(signal)"
    }
  }
}
