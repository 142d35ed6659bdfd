import Glibc
import Model
package import Platform
package import Postgres
import Queue
import SeededRandom
import WaitTesting

/// The application of a run: it writes orders and jobs in one transaction, and cancels and retries some jobs.
///
/// It writes to its ledger which jobs it intends to enqueue, and then what the database has acknowledged. After a
/// producer was killed, another one with the same ledger enqueues the jobs that were not acknowledged.
package final class Producer {
  /// The configuration of a producer.
  package struct Configuration: Sendable {
    package var ledger: String
    /// The number of jobs, including those of earlier producers with the same ledger.
    package var jobs: Int
    /// The maximum number of jobs of one transaction.
    package var maxBatch: Int
    /// The number of live jobs above which the producer waits.
    package var maxLive: Int
    /// The number of transactions between two operations of an operator.
    package var operatesEvery: Int
    package var seed: UInt64

    package init(ledger: String, jobs: Int, maxBatch: Int, maxLive: Int, operatesEvery: Int, seed: UInt64) {
      self.ledger = ledger
      self.jobs = jobs
      self.maxBatch = maxBatch
      self.maxLive = maxLive
      self.operatesEvery = operatesEvery
      self.seed = seed
    }
  }

  private let configuration: Configuration
  private let database: ReconnectingSession
  private let ledger: Ledger
  // Two generators, so that the jobs do not depend on the sizes of the transactions.
  private var ids: SplitMix64
  private var sizes: SplitMix64
  private var intended: Int
  private var unacknowledged: [PublicID]

  package init(_ configuration: Configuration, database: DatabaseURL) throws {
    self.configuration = configuration
    self.database = ReconnectingSession(database)
    ids = SplitMix64(seed: configuration.seed)
    sizes = SplitMix64(seed: ~configuration.seed)
    var open: [PublicID: Int] = [:]
    intended = 0
    if access(configuration.ledger, F_OK) == 0 {
      for entry in try Ledger.read(configuration.ledger) {
        switch entry.event {
        case .intended(let job):
          open[job] = intended
          intended += 1
        case .enqueued(let job), .absorbed(let job): open[job] = nil
        default: break
        }
      }
    }
    unacknowledged = open.sorted { $0.value < $1.value }.map(\.key)
    ledger = try Ledger(configuration.ledger)
  }

  /// Runs until all jobs are enqueued, or until `stopping` is cancelled.
  package func run(until stopping: CancellationFlag) throws {
    if !unacknowledged.isEmpty { try enqueue(unacknowledged) }
    var transactions = 0
    let deadline = Deadline("all jobs", within: .seconds(3600))
    while intended < configuration.jobs && !stopping.isCancelled {
      try deadline.check()
      try waitForRoom()
      let milliseconds = UInt64(ClockReading.now.wall / 1000)
      let ids = (0..<batchSize()).map { _ in PublicID(milliseconds: milliseconds, random: &self.ids) }
      try ledger.write(ids.map { .intended($0) })
      intended += ids.count
      try enqueue(ids)
      transactions += 1
      if transactions % configuration.operatesEvery == 0 { try operate(on: ids) }
    }
    try ledger.write(.exited)
  }

  private func batchSize() -> Int {
    let size =
      switch Int.random(in: 0..<10, using: &sizes) {
      case ..<6: 1
      case ..<9: Int.random(in: 2...20, using: &sizes)
      default: configuration.maxBatch
      }
    return min(size, configuration.maxBatch, configuration.jobs - intended)
  }

  private func waitForRoom() throws {
    let deadline = Deadline("room for jobs", within: .seconds(3600))
    while try database.repeating({ try $0.execute(ChaosSchema.statements["live"]).single().get(0, as: Int.self) })
      > configuration.maxLive
    {
      try deadline.check()
      usleep(20_000)
    }
  }

  // An order that exists is skipped: it was committed in the same transaction as its job.
  private func enqueue(_ ids: [PublicID]) throws {
    let statements = ChaosSchema.statements
    try database.repeating { session in
      try session.transaction { session in
        let new = try ids.filter { try !session.execute(statements["order"], .text($0.description)).isEmpty }
        let absorbed =
          if new.count == 1 {
            try JobQueue.enqueue(ChaosJob(of: new[0]).job(new[0]), session) == nil ? new : []
          } else {
            try JobQueue.enqueue(new.map { try ChaosJob(of: $0).job($0) }, session)
          }
        for id in absorbed { try session.execute(statements["absorb"], .text(id.description)) }
        // If the notification is lost, a worker finds the job when it polls.
        for queue in [ChaosJob.longQueue, ChaosJob.shortQueue] { try JobQueue.notify(queue: queue, session) }
      }
    }
    var absorbed: Set<PublicID> = []
    try database.repeating { session in
      for row in try session.execute(statements["ordered"], .texts(ids.map(\.description)))
      where try row.get("absorbed") {
        absorbed.insert(try row.publicID("id"))
      }
    }
    try ledger.write(ids.map { absorbed.contains($0) ? .absorbed($0) : .enqueued($0) })
    for id in ids where !absorbed.contains(id) && ChaosJob(of: id).isCancelledAtOnce { try cancel(id) }
  }

  private func cancel(_ id: PublicID) throws {
    let outcome = try database.repeating { session in
      try session.transaction { session in try JobQueue.cancel(id, session) }
    }
    if outcome == .cancelled { try ledger.write(.cancelled(id)) }
  }

  // The operator reads the queue, cancels an executing job, and retries a delayed and a dead job now.
  private func operate(on ids: [PublicID]) throws {
    _ = try? database.once { session in
      _ = try JobQueue.depths(session)
      _ = try JobQueue.find(ids, session)
      if let running = try JobQueue.list(
        JobFilter(states: [.executing], author: ChaosJob.cancellable, limit: 1), session
      ).first {
        try session.transaction { session in _ = try JobQueue.cancel(running.publicID, session) }
      }
      for filter in [JobFilter(states: [.dead], limit: 1), JobFilter(author: ChaosJob.delayed, limit: 1)] {
        guard let waiting = try JobQueue.list(filter, session).first else { continue }
        try session.transaction { session in _ = try JobQueue.retryNow(waiting.publicID, session) }
      }
    }
  }
}

/// A connection that reconnects after a failure, for statements that may be repeated.
final class ReconnectingSession {
  private let url: DatabaseURL
  private var session: Session?

  init(_ url: DatabaseURL) { self.url = url }

  /// Runs a body once; after an error, the next call reconnects.
  func once<Result>(_ body: (Session) throws -> Result) throws -> Result {
    let session = try self.session ?? Session.connect(url, timeout: .seconds(1))
    self.session = session
    do {
      return try body(session)
    } catch {
      self.session = nil
      throw error
    }
  }

  /// Repeats a body until it succeeds, while errors are transient. An earlier call may have had its effect.
  func repeating<Result>(_ body: (Session) throws -> Result) throws -> Result {
    let deadline = Deadline("a server that responds", within: .seconds(3600))
    while true {
      try deadline.check()
      do {
        return try once(body)
      } catch let error as PostgresError where error.isTransient {
        usleep(20_000)
      }
    }
  }
}
