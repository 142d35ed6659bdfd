import Glibc
import Platform

/// Ends a command that a signal finds at work.
enum Interruption {
  /// How long an orderly end may take: whatever does not end by then leaves nothing behind either.
  private static let timeout = Duration.seconds(5)

  /// Carries out `work`; the first signal cancels it, and makes `.interrupted` of whatever failure follows.
  static func run(
    until signals: StopSignals, _ work: @escaping @Sendable () async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let task = Task { try await work() }
    let isInterrupted = CancellationFlag()
    let watch = Task {
      await signals.wait()
      guard !Task.isCancelled else { return }
      isInterrupted.cancel()
      task.cancel()
      try? await Task.sleep(for: timeout)
      guard !Task.isCancelled else { return }
      for line in CommandFailure.interrupted.lines { Console.note(line) }
      exit(ExitStatus.interrupted.rawValue)
    }
    defer { watch.cancel() }
    do {
      return try await task.value
    } catch {
      throw isInterrupted.isCancelled ? CommandFailure.interrupted : error
    }
  }
}
