import Glibc
import Model
package import Platform
package import Postgres
import Queue

/// Plays the application: orders and jobs in one transaction, some cancelled, some tried again by an operator.
///
/// It writes down what it intends before it asks the database, and what it was told afterwards. One that was killed is
/// started again with the same ledger, and settles what its predecessor left open.
package final class Producer {
  /// What it does, and how fast.
  package struct Configuration: Sendable {
    package var ledger: String
    /// How many jobs it intends in all, over all its lives.
    package var jobs: Int
    /// The most jobs of one transaction.
    package var maxBatch: Int
    /// It waits while more jobs than this are live.
    package var maxLive: Int
    /// After so many transactions it looks around as an operator would.
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
  // Apart, so that which jobs there are does not depend on how they are bundled.
  private var ids: SplitMix64
  private var sizes: SplitMix64
  private var intended: Int
  private var unsettled: [PublicID]

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
    unsettled = open.sorted { $0.value < $1.value }.map(\.key)
    ledger = try Ledger(configuration.ledger)
  }

  /// Goes on until all jobs are enqueued, or until it is asked to end.
  package func run(until stopping: CancellationFlag) throws {
    if !unsettled.isEmpty { try settle(unsettled) }
    var transactions = 0
    while intended < configuration.jobs && !stopping.isCancelled {
      try waitForRoom()
      let milliseconds = UInt64(Moment.now.wall / 1000)
      let ids = (0..<batchSize()).map { _ in PublicID(milliseconds: milliseconds, random: &self.ids) }
      try ledger.write(ids.map { .intended($0) })
      intended += ids.count
      try settle(ids)
      transactions += 1
      if transactions % configuration.operatesEvery == 0 { try operate(on: ids) }
    }
    try ledger.write(.ended)
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
    while try database.repeating({ try $0.execute(ChaosSchema.statements["live"]).single().get(0, as: Int.self) })
      > configuration.maxLive
    {
      usleep(20_000)
    }
  }

  // Whatever of it is committed already is left alone: the order stands in the same transaction as its job.
  private func settle(_ ids: [PublicID]) throws {
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
        // Lost, it costs the time until a worker looks by itself.
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
    for id in ids where !absorbed.contains(id) && ChaosJob(of: id).isWithdrawn { try withdraw(id) }
  }

  private func withdraw(_ id: PublicID) throws {
    let outcome = try database.repeating { session in
      try session.transaction { session in try JobQueue.cancel(id, session) }
    }
    if outcome == .cancelled { try ledger.write(.cancelled(id)) }
  }

  // An operator looks at the queue, cancels what runs, hastens what waits, and tries a dead job again.
  private func operate(on ids: [PublicID]) throws {
    _ = try? database.once { session in
      _ = try JobQueue.depths(session)
      try keepCalendar(session)
      _ = try JobQueue.find(ids, session)
      if let running = try JobQueue.list(
        JobFilter(states: [.executing], author: ChaosJob.cancellable, limit: 1), session
      ).first {
        try session.transaction { session in _ = try JobQueue.cancel(running.publicID, session) }
      }
      for filter in [JobFilter(states: [.dead], limit: 1), JobFilter(author: ChaosJob.putOff, limit: 1)] {
        guard let waiting = try JobQueue.list(filter, session).first else { continue }
        try session.transaction { session in _ = try JobQueue.retryNow(waiting.publicID, session) }
      }
    }
  }

  // An entry that comes and goes, and is never due.
  private func keepCalendar(_ session: Session) throws {
    let entry = CronEntry(name: "passing", schedule: "0 0 1 1 *", queue: ChaosJob.longQueue, kind: "passing")
    try JobQueue.set(cron: entry, session)
    _ = try JobQueue.pause(cron: entry.name, session)
    _ = try JobQueue.resume(cron: entry.name, session)
    _ = try JobQueue.cron(session)
    _ = try JobQueue.nextFiring(ofKind: entry.kind, session)
    _ = try JobQueue.remove(cron: entry.name, session)
  }
}
