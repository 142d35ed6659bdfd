import Logging
import Metrics
import Platform
package import Postgres
import Queue
package import QueueWorker

/// The service's own worker with handlers of a run: it comes back under a new id whenever it was taken for dead.
package final class ChaosWorker: Sendable {
  private let make: @Sendable () -> QueueWorker
  private let ledger: Ledger
  private let pool: Pool
  private let log = Logger(format: .text)
  private let current = Locked<QueueWorker?>(nil)
  private let stopping = CancellationFlag()

  /// - Parameters:
  ///   - ledger: the path of its ledger.
  ///   - slots: long jobs at a time.
  ///   - mayDrain: whether a job may ask it to end.
  package init(
    database: DatabaseURL, ledger path: String, slots: Int, mayDrain: Bool, configuration: QueueWorkerConfiguration
  ) throws {
    let ledger = try Ledger(path)
    let database = database.with(idleTransactionLimit: configuration.lease)
    let pool = Pool(database, size: 2 * slots + 3)
    let handler = ChaosHandler(ledger: ledger, pool: pool, mayDrain: mayDrain)
    let consumers = [ChaosJob.longQueue, ChaosJob.shortQueue].map {
      ConsumerConfiguration(queue: $0, slots: slots, handler: handler)
    }
    self.ledger = ledger
    self.pool = pool
    make = { [log] in
      QueueWorker(
        configuration: configuration, database: database, pool: pool, consumers: consumers, log: log, metrics: Metrics()
      )
    }
  }

  /// Works until `stop()`.
  package func run() async throws {
    while !stopping.isCancelled {
      let worker = make()
      current.withLock { $0 = worker }
      // A stop that came before the line above is heard here.
      if stopping.isCancelled { break }
      do {
        try await worker.run()
      } catch {
        log.error("the worker could not work; trying again", ["error": "\(error)"])
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    await pool.close()
    try ledger.write(.ended)
  }

  /// Asks it to end after its running jobs.
  package func stop() {
    stopping.cancel()
    current.withLock { $0 }?.stop()
  }
}
