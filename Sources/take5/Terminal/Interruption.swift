import Glibc
import Platform

/// The effect of a signal on a running command.
enum Interruption {
  /// The time for an orderly end. A command that is killed later leaves no files behind either.
  private static let timeout = Duration.seconds(5)

  /// Runs `work`. The first signal cancels it; any error after that becomes `.interrupted`, unless it says what the command leaves
  /// behind.
  static func run(
    until signals: StopSignals, _ work: @escaping @Sendable () async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let task = Task { try await work() }
    let isInterrupted = CancellationFlag()
    let monitor = Task {
      await signals.wait()
      guard !Task.isCancelled else { return }
      isInterrupted.cancel()
      task.cancel()
      try? await Task.sleep(for: timeout)
      guard !Task.isCancelled else { return }
      for line in CommandFailure.interrupted.lines { Console.note(line) }
      exit(ExitStatus.interrupted.rawValue)
    }
    defer { monitor.cancel() }
    do {
      return try await task.value
    } catch {
      guard isInterrupted.isCancelled else { throw error }
      if let failure = error as? CommandFailure, failure.status == .interrupted { throw failure }
      throw CommandFailure.interrupted
    }
  }
}

extension Subcommand {
  /// Makes a command that finishes on its own; a signal cancels it.
  init(
    _ name: String, abstract: String, operands: [String] = [], options: [Option] = [], example: String,
    reportsConfiguration: Bool = false, run: @escaping @Sendable (Arguments) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: operands, options: options, example: example, isHidden: false,
      reportsConfiguration: reportsConfiguration
    ) { arguments in
      try await Interruption.run(until: StopSignals()) { try await run(arguments) }
    }
  }
}
