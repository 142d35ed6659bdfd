import FoundationEssentials
import Glibc
internal import Model
internal import Platform
package import Postgres
package import Push
package import Queue
import Store
package import Telemetry

/// Sends what is due for the devices of a shard.
package final class PushCourier: Courier {
  /// The number of refusals in a row after which a device goes: one may be the fault of the credentials, such as those for another
  /// environment of Apple's.
  private static let maxRefusals = 3

  /// The time for which an attempt reads what is due.
  private static let turn = Duration.seconds(30)

  package let queue = PushShards.queue
  /// Each shard has its own: none waits for another provider.
  package let slots = PushShards.count

  private let sender: Sender
  /// Those that devices may have, and those of which there are credentials.
  private let platforms: [RegisteredDevice.Platform]
  private let announced: [(RegisteredDevice.Platform, subscriptionKey: String?)]
  private let texts: PushTexts
  private let metrics: Metrics
  private let log: Logger
  /// Until when a provider gets nothing, in seconds since 1970-01-01 UTC.
  private let pauses = Locked<[Credentials: Int]>([:])

  /// What one refusal concerns: Apple has two environments.
  private struct Credentials: Hashable {
    let platform: RegisteredDevice.Platform
    let environment: String?

    init(_ due: DueDelivery) { (platform, environment) = (due.platform, due.environment) }
  }

  /// - Parameter platforms: those that devices may have.
  /// - Throws: `invalidCredentials`, `unavailable`.
  package init(
    _ configuration: Sender.Configuration, _ texts: PushTexts, _ metrics: Metrics, _ log: Logger,
    platforms: [RegisteredDevice.Platform] = RegisteredDevice.Platform.allCases
  ) throws(PushError) {
    sender = try Sender(configuration)
    self.platforms = platforms
    announced = configuration.providers.map { (ProviderKind(type(of: $0)), $0.subscriptionKey) }
    self.texts = texts
    self.metrics = metrics
    self.log = log
    // `increase` does not see the first event of a counter that begins with it.
    for (platform, _) in announced { count("credentials_refused", of: platform, by: 0) }
  }

  /// The task of a worker that says what it has credentials of, and what browsers subscribe with.
  package var announcing: MaintenanceTask {
    MaintenanceTask("push", every: .seconds(600), by: .eachWorker) { [announced] pool in
      try await pool.transaction { try Devices.announce(announced, $0) }
    }
  }

  /// Ends the thread that sends.
  package func stop() { sender.stop() }

  package func hasDue(_ job: ClaimedJob, _ session: Session) throws -> Bool {
    let shard = try PushShards(job, among: platforms).shard
    return try session.execute(Devices.statements["has_due_delivery"], .integer(shard)).single().get("is_due")
  }

  /// Sends what is due for half a minute. Another page is read once half of the one before has an outcome, so that it waits for no slow
  /// request.
  package func deliver(
    _ job: ClaimedJob, isStopped: @escaping @Sendable () -> Bool, _ pool: Pool
  ) async throws -> Bool {
    let shard = try PushShards(job, among: platforms).shard
    let end = ContinuousClock.now + Self.turn
    var flight = PushFlight()
    var hasMore = true
    // What becomes due meanwhile does not wait for the last response either.
    var nextRead = ContinuousClock.now
    var failure: (any Error)?
    while true {
      let mayRead = failure == nil && !isStopped() && ContinuousClock.now < end
      if mayRead, flight.count <= DueDelivery.pageSize / 2, hasMore || ContinuousClock.now >= nextRead {
        do { hasMore = try await sendNext(of: shard, &flight, job, pool) } catch { failure = error }
        nextRead = .now + .seconds(1)
      } else if flight.isEmpty {
        if let failure { throw failure }
        return hasMore
      } else {
        // What is on its way is not sent again because of another row.
        let landed = await flight.landed(ending)
        try await record(landed, job, pool)
      }
    }
  }

  /// Reads the next page and starts to send it; returns whether more is due.
  private func sendNext(
    of shard: Int, _ flight: inout PushFlight, _ job: ClaimedJob, _ pool: Pool
  ) async throws -> Bool {
    let now = time(nil)
    let (page, isLast) = try await page(shard, flight, now, pool)
    var ended: [PushEnding] = []
    var sent: [DueDelivery] = []
    for due in page {
      if let ending = unsent(due, now) ?? flight.crowded(due, now) ?? folded(due) {
        ended.append(ending)
      } else {
        flight.add(due)
        sent.append(due)
      }
    }
    let arrivals = flight.arrivals
    sender.send(sent.compactMap(\.delivery)) { [sent] index, outcome in arrivals.add(sent[index], outcome) }
    try await record(ended, job, pool)
    guard isLast else { return true }
    return try await pool.transaction { session in
      try JobQueue.confirm(job, session)
      return try Devices.continueBroadcast(shard: shard, session)
    }
  }

  /// Reads a page of what is due. Where the value of one row stops the page, it is halved until that row is the first, and set aside.
  private func page(
    _ shard: Int, _ flight: PushFlight, _ now: Int, _ pool: Pool
  ) async throws -> (page: [DueDelivery], isLast: Bool) {
    let keys = flight.keys
    var limit = DueDelivery.pageSize
    while true {
      do {
        let page = try await pool.transaction { [texts, limit, platforms] in
          try DueDelivery.page(shard: shard, except: keys, texts, now: now, limit: limit, platforms: platforms, $0)
        }
        return (page, page.count < limit)
      } catch  where SetAside.isOfRow(error) {
        if limit == 1 {
          try await pool.transaction { try DueDelivery.setFirstAside(shard: shard, except: keys, error, $0) }
          return ([], false)
        }
        limit /= 2
      }
    }
  }

  /// What becomes of a delivery of which another one of the page says as much, and is sent.
  private func folded(_ due: DueDelivery) -> PushEnding? {
    due.isFolded ? PushEnding(due, .ended, "folded") : nil
  }

  /// What becomes of a delivery that is not to be sent now; nil if it is.
  private func unsent(_ due: DueDelivery, _ now: Int) -> PushEnding? {
    if !due.isSignedIn { return PushEnding(due, .gone(since: nil), "signed_out") }
    if due.notification == nil { return PushEnding(due, .ended, "hidden") }
    if due.expires <= now { return PushEnding(due, .ended, "expired") }
    if due.address == nil { return PushEnding(due, .refused, "device_refused") }
    if let end = due.quietEnd { return PushEnding(due, until: end, "quiet", isAttempt: false) }
    let pause = pauses.withLock { $0[Credentials(due)] } ?? 0
    return pause > now ? PushEnding(due, until: pause, "credentials_refused", isAttempt: false) : nil
  }

  /// What becomes of a delivery by its outcome, which is recorded as soon as it is known: if this process is killed, what was on the wire
  /// is sent again, with the same collapse id.
  private func ending(of due: DueDelivery, _ outcome: Outcome, _ now: Int) -> PushEnding {
    // A server that a user names holds up no other one.
    if !due.platform.type.isOfBrowsers {
      switch outcome {
      case .credentialsRefused(let reason): hold(due, reason, now)
      case .authorizationExpired: hold(due, "expired", now)
      default: break
      }
    }
    return PushEnding(due, outcome, now: now)
  }

  /// A provider that refuses the credentials gets nothing for a while.
  private func hold(_ due: DueDelivery, _ reason: String, _ now: Int) {
    let credentials = Credentials(due)
    let isFirst = pauses.withLock { pauses in
      defer { pauses[credentials] = now + PushEnding.credentialPause }
      return pauses[credentials].map { $0 <= now } ?? true
    }
    if isFirst {
      log.error(
        "the push provider refuses the credentials",
        ["provider": due.platform.name, "environment": due.environment, "reason": reason])
    }
  }

  private func record(_ endings: [PushEnding], _ job: ClaimedJob, _ pool: Pool) async throws {
    guard !endings.isEmpty else { return }
    try await pool.transaction { session in
      try JobQueue.confirm(job, session)
      try PushEnding.record(endings, maxRefusals: Self.maxRefusals, session)
    }
    for ending in endings { count(ending.outcome, of: ending.due.platform, by: 1) }
  }

  private func count(_ outcome: String, of platform: RegisteredDevice.Platform, by number: Double) {
    metrics.count(
      "take5_push_total", "Notifications by provider and what became of them.",
      ["provider": platform.name, "outcome": outcome], by: number)
  }
}
