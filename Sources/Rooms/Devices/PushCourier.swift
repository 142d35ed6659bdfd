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

  package let queue = PushShards.queue
  package let slots = PushShards.foreign + 1

  private let sender: Sender
  private let platforms: [RegisteredDevice.Platform]
  private let webPushKey: String?
  private let texts: PushTexts
  private let metrics: Metrics
  private let log: Logger
  /// Until when a provider gets nothing, in seconds since 1970-01-01 UTC.
  private let pauses = Locked<[RegisteredDevice.Platform: Int]>([:])

  /// - Throws: `invalidCredentials`, `unavailable`.
  package init(
    _ configuration: Sender.Configuration, _ texts: PushTexts, _ metrics: Metrics, _ log: Logger
  ) throws(PushError) {
    sender = try Sender(configuration)
    platforms =
      (configuration.apns == nil ? [] : [.apns]) + (configuration.fcm == nil ? [] : [.fcm])
      + (configuration.webPush == nil ? [] : [.webPush])
    webPushKey = configuration.webPush?.publicKey
    self.texts = texts
    self.metrics = metrics
    self.log = log
  }

  /// The task of a worker that says what it has credentials of.
  package var announcing: MaintenanceTask {
    MaintenanceTask("push", every: .seconds(600), by: .eachWorker) { [platforms, webPushKey] pool in
      try await pool.transaction { try Devices.announce(platforms, webPushKey: webPushKey, $0) }
    }
  }

  /// Ends the thread that sends.
  package func stop() { sender.stop() }

  package func hasDue(_ job: ClaimedJob, _ session: Session) throws -> Bool {
    let shard = try PushShards(job).shard
    return try session.execute(Devices.statements["has_due_delivery"], .integer(shard)).single().get("is_due")
  }

  package func deliver(
    _ job: ClaimedJob, isStopped: @escaping @Sendable () -> Bool, _ pool: Pool
  ) async throws -> Bool {
    let shard = try PushShards(job).shard
    let now = time(nil)
    let (page, isLast) = try await page(shard, now, pool)
    var ended: [PushEnding] = []
    var sent: [DueDelivery] = []
    var deliveries: [Push.Delivery] = []
    for due in page {
      if let ending = unsent(due, now) {
        ended.append(ending)
      } else if let notification = due.notification, let address = due.address {
        sent.append(due)
        deliveries.append(Push.Delivery(notification, to: address))
      }
    }
    if !ended.isEmpty { try await record(ended, job, pool) }
    if !sent.isEmpty { try await send(sent, deliveries, job, pool) }
    return !isLast
  }

  /// Reads a page of what is due. Where the value of one row stops the page, it is halved until that row is the first, and set aside.
  private func page(_ shard: Int, _ now: Int, _ pool: Pool) async throws -> (page: [DueDelivery], isLast: Bool) {
    var limit = DueDelivery.pageSize
    while true {
      do {
        let page = try await pool.transaction { [texts, limit] in
          try DueDelivery.page(shard: shard, texts, now: now, limit: limit, $0)
        }
        return (page, page.count < limit)
      } catch  where SetAside.isOfRow(error) {
        if limit == 1 {
          try await pool.transaction { try DueDelivery.setFirstAside(shard: shard, error, $0) }
          return ([], false)
        }
        limit /= 2
      }
    }
  }

  /// What becomes of a delivery that is not to be sent now; nil if it is.
  private func unsent(_ due: DueDelivery, _ now: Int) -> PushEnding? {
    if !due.isSignedIn { return PushEnding(due, .gone(since: nil), "signed_out") }
    if due.notification == nil { return PushEnding(due, .ended, "hidden") }
    if due.expires <= now { return PushEnding(due, .ended, "expired") }
    if due.address == nil { return PushEnding(due, .refused, "device_refused") }
    if let end = due.quietEnd { return PushEnding(due, until: end, "quiet", isAttempt: false) }
    let pause = pauses.withLock { $0[due.platform] } ?? 0
    return pause > now ? PushEnding(due, until: pause, "credentials_refused", isAttempt: false) : nil
  }

  /// Sends notifications, and records what becomes of them as soon as it is known: if this process is killed, what was on the wire is sent
  /// again, with the same collapse id.
  private func send(
    _ sent: [DueDelivery], _ deliveries: [Push.Delivery], _ job: ClaimedJob, _ pool: Pool
  ) async throws {
    let arrived = Arrivals()
    async let sending: Void = sender.send(deliveries) { index, outcome in
      arrived.outcomes.withLock { $0.append((index, outcome)) }
      arrived.wake.raise()
    }
    var rest = sent.count
    while rest > 0 {
      await arrived.wake.wait(atMost: .seconds(1))
      let outcomes = arrived.outcomes.withLock { outcomes in
        defer { outcomes = [] }
        return outcomes
      }
      guard !outcomes.isEmpty else { continue }
      rest -= outcomes.count
      let now = time(nil)
      try await record(outcomes.map { ending(of: sent[$0], $1, now) }, job, pool)
    }
    await sending
  }

  private func ending(of due: DueDelivery, _ outcome: Outcome, _ now: Int) -> PushEnding {
    switch (due.platform, outcome) {
    // A server that a user names holds up no other one.
    case (.webPush, _): break
    case (_, .credentialsRefused(let reason)): hold(due.platform, reason, now)
    case (_, .authorizationExpired): hold(due.platform, "expired", now)
    default: break
    }
    return PushEnding(due, outcome, now: now)
  }

  /// A provider that refuses the credentials gets nothing for a while.
  private func hold(_ platform: RegisteredDevice.Platform, _ reason: String, _ now: Int) {
    let isFirst = pauses.withLock { pauses in
      defer { pauses[platform] = now + PushEnding.credentialPause }
      return pauses[platform].map { $0 <= now } ?? true
    }
    if isFirst {
      log.error("the push provider refuses the credentials", ["provider": platform.rawValue, "reason": reason])
    }
  }

  private func record(_ endings: [PushEnding], _ job: ClaimedJob, _ pool: Pool) async throws {
    try await pool.transaction { session in
      try JobQueue.confirm(job, session)
      try PushEnding.record(endings, maxRefusals: Self.maxRefusals, session)
    }
    for ending in endings {
      metrics.count(
        "take5_push_total", "Notifications by provider and what became of them.",
        ["provider": ending.due.platform.rawValue, "outcome": ending.outcome])
    }
  }
}

/// The outcomes that are not recorded yet.
private final class Arrivals: Sendable {
  let outcomes = Locked<[(Int, Outcome)]>([])
  let wake = WakeUp()
}

/// Which job sends to a device.
struct PushShards: Codable {
  static let queue = "push"
  /// The number of jobs for devices of known providers.
  private static let count = 4
  /// That of servers that users name: whatever they do, they occupy one slot.
  static let foreign = 4
  /// An attempt has a turn of half a minute, and then a page may wait for a provider.
  private static let deadlineSeconds = 300
  private static let maxAttempts = 1000

  let shard: Int

  init(shard: Int) { self.shard = shard }

  init(_ job: ClaimedJob) throws { self = try JSON.decode(Self.self, from: job.arguments) }

  static func job(of shard: Int) throws -> NewJob {
    NewJob(
      publicID: .now(), queue: queue, kind: "push", maxAttempts: maxAttempts, deadlineSeconds: deadlineSeconds,
      uniqueKey: Array("push-\(shard)".utf8), arguments: try JSON.encode(PushShards(shard: shard)))
  }

  static func shard(of draft: DeviceDraft) -> Int {
    draft.platform != .webPush || isKnown(Origin.split(draft.address)?.0) ? .random(in: 0..<count) : foreign
  }

  /// Whether a server is that of a browser's maker.
  private static func isKnown(_ origin: Origin?) -> Bool {
    guard let origin, origin.port == 443 else { return false }
    let host = origin.host
    return ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"].contains(host)
      || host.hasSuffix(".notify.windows.com")
  }
}
