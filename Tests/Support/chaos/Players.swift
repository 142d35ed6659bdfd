import ChaosTesting
import Platform
import Postgres
import QueueWorker

/// The parts that are played by processes of their own.
enum Players {
  /// Takes jobs until SIGTERM.
  static func work(_ options: Options) async throws {
    let signals = StopSignals()
    let worker = try ChaosWorker(
      database: try DatabaseURL(options.text("--database")), ledger: options.text("--ledger"),
      slots: options.number("--slots", 2), mayDrain: options.number("--may-drain", 0) == 1,
      configuration: QueueWorkerConfiguration(
        lease: .milliseconds(try options.number("--lease", 2000)),
        reapInterval: .milliseconds(try options.number("--reap", 660)),
        pollInterval: .milliseconds(try options.number("--poll", 100)),
        drain: .milliseconds(try options.number("--drain", 300))))
    try await withThrowingTaskGroup { group in
      group.addTask { try await worker.run() }
      await signals.wait()
      worker.stop()
      try await group.waitForAll()
    }
  }

  /// Enqueues jobs until there are enough, or until SIGTERM.
  static func produce(_ options: Options) throws {
    let signals = StopSignals()
    let stopping = CancellationFlag()
    Task {
      await signals.wait()
      stopping.cancel()
    }
    let producer = try Producer(
      Producer.Configuration(
        ledger: options.text("--ledger"), jobs: options.number("--jobs", 100),
        maxBatch: options.number("--batch", 100), maxLive: options.number("--live", 200),
        operatesEvery: options.number("--operates", 20), seed: options.number("--seed", 0)),
      database: try DatabaseURL(options.text("--database")))
    try producer.run(until: stopping)
  }
}
