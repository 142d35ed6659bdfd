import ChaosTesting
import Platform
import Postgres

/// The worker and the producer of a run, each in its own process.
enum Programs {
  /// Runs a worker until SIGTERM.
  static func work(_ options: Options) async throws {
    let signals = StopSignals()
    let timing = ChaosTiming(lease: .milliseconds(try options.number("--lease")))
    let worker = try ChaosWorker(
      database: try DatabaseURL(options.text("--database")), ledger: options.text("--ledger"),
      mayStop: options.number("--may-stop") == 1, configuration: timing.configuration)
    try await withThrowingTaskGroup { group in
      group.addTask { try await worker.run() }
      await signals.wait()
      worker.stop()
      try await group.waitForAll()
    }
  }

  /// Runs a producer until all jobs are enqueued, or until SIGTERM.
  static func produce(_ options: Options) throws {
    let signals = StopSignals()
    let stopping = CancellationFlag()
    Task {
      await signals.wait()
      stopping.cancel()
    }
    let producer = try Producer(
      Producer.Configuration(
        ledger: options.text("--ledger"), jobs: options.number("--jobs"), maxBatch: options.number("--batch"),
        maxLive: options.number("--live"), operatesEvery: options.number("--operates"), seed: options.number("--seed")),
      database: try DatabaseURL(options.text("--database")))
    try producer.run(until: stopping)
  }
}
