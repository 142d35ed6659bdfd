package import FoundationEssentials
import Platform

/// A notification for a device.
package struct Delivery: Sendable {
  /// Names it at Apple.
  package let id: UUID
  package let notification: Notification
  package let device: Device

  package init(id: UUID = UUID(), _ notification: Notification, to device: Device) {
    self.id = id
    self.notification = notification
    self.device = device
  }
}

/// Deliveries with one receiver of their outcomes.
final class Batch: Sendable {
  let deliveries: [Delivery]
  let report: @Sendable (Int, Outcome) -> Void

  init(_ deliveries: [Delivery], _ report: @escaping @Sendable (Int, Outcome) -> Void) {
    self.deliveries = deliveries
    self.report = report
  }

  /// Ends all deliveries of a batch that no loop has taken.
  func endAll(_ outcome: Outcome) {
    for index in deliveries.indices { report(index, outcome) }
  }
}

/// The purpose of one request.
struct Work {
  enum Purpose {
    case delivery(Batch, Int)
    /// Fetches what authorizes the requests to a host.
    case authorization(Host, PushRequest)
  }

  let purpose: Purpose
  /// How often a server has returned it without processing it.
  var returns = 0
  /// Whether its authorization has been renewed.
  var isRenewed = false

  func end(_ outcome: Outcome) {
    switch purpose {
    case .delivery(let batch, let index): batch.report(index, outcome)
    case .authorization(let host, _):
      host.isAuthorizing = false
      host.endAll(outcome)
    }
  }
}

/// A server, with the requests that wait for it.
final class Host {
  /// Two providers may have one origin, as Firebase and the browser of its maker; a server that authorizes is another one, too.
  struct Key: Hashable {
    let origin: Origin
    let provider: String
    let isForAuthorization: Bool
  }

  let key: Key
  let provider: any Provider
  /// Whether users name it.
  let isForeign: Bool
  var connections: [Connection] = []
  var authorization: Authorization?
  /// Whether the authorization is being fetched.
  var isAuthorizing = false
  /// The last time at which an authorization was renewed before its time.
  var lastRenewal: ContinuousClock.Instant?
  /// The addresses that have not been tried for the next connection; nil unless it is being established.
  var addresses: [SocketAddress]?
  /// When that began.
  var connectingSince = ContinuousClock.now
  /// The connection that is being established.
  var connecting: Connection?
  /// How many connections in a row the server has closed without a response.
  var uselessConnections = 0
  /// The time until which the server asks for no requests (Retry-After).
  var pausedUntil: ContinuousClock.Instant?
  /// How often in a row it has not responded, and the last time.
  private var silences: (count: Int, last: ContinuousClock.Instant)?
  /// The time from which another connection may be added to the working ones.
  var nextConnection = ContinuousClock.now
  private static let memory = Duration.seconds(600)
  private var waiting = JobList<Work>()
  private var returned: [Work] = []

  init(_ key: Key, _ provider: any Provider, isForeign: Bool) {
    self.key = key
    self.provider = provider
    self.isForeign = isForeign
  }

  var isWaitedFor: Bool { !waiting.isEmpty || !returned.isEmpty }

  /// Whether a request has no response yet.
  var hasExchanges: Bool { connections.contains { !$0.session.events.exchanges.isEmpty } }

  /// Whether something is waited for, or has ended.
  var isBusy: Bool {
    isWaitedFor
      || connections.contains {
        !$0.session.events.exchanges.isEmpty || !$0.session.events.ended.isEmpty || $0.problem != nil
      }
  }

  func append(_ work: Work) { waiting.append(work) }

  /// Puts work back, before the others.
  func putBack(_ work: Work) { returned.append(work) }

  /// Waits for a number of seconds, unless the server has asked for a longer pause before.
  func pause(_ seconds: Int) {
    pausedUntil = max(pausedUntil ?? .now, .now + .seconds(seconds))
  }

  /// Whether it gets one request at a time until it responds: it has been silent twice.
  var isDoubtful: Bool { (silences?.count ?? 0) >= 2 }

  /// Whether it is to be known when another request comes.
  var isRemembered: Bool {
    (pausedUntil ?? .now) > .now || silences.map { $0.last + Self.memory > .now } ?? false
  }

  /// Notes that it has not responded to what was sent at a time, if any user may name it. Requests that wait at the same time are one silence; from the second one
  /// on it gets nothing for a minute, then for two, up to ten.
  func noteSilence(since start: ContinuousClock.Instant) {
    guard isForeign, !type(of: provider).isOfMaker(key.origin), silences.map({ start > $0.last }) ?? true else {
      return
    }
    let count = (silences?.count ?? 0) + 1
    silences = (count, .now)
    if isDoubtful { pause(min(60 << min(count - 2, 4), 600)) }
  }

  func noteResponse() { silences = nil }

  func next() -> Work? { returned.popLast() ?? waiting.popFirst() }

  /// Ends all work that waits.
  func endAll(_ outcome: Outcome) {
    while let work = next() { work.end(outcome) }
  }
}
