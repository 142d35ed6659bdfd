import Glibc
import Platform

/// The thread of a sender: waits for sockets, and starts and ends requests. Nothing in it blocks but the wait.
final class SendingLoop {
  /// The maximum number of servers that users name, with open connections, at the same time.
  static let maxForeignHosts = 64
  /// The number of servers beyond which the loop forgets pauses of servers that users name: a user can name many.
  private static let maxHosts = 256
  /// The maximum number of addresses of a server that are tried for a connection.
  static let maxAddresses = 8
  /// The number of connections that a server closes without a response, after which what waits is given back.
  static let maxUselessConnections = 3
  /// How often a request is repeated that a server has not processed.
  private static let maxReturns = 5
  /// The time between two renewals of an authorization before its time: Apple accepts one in 20 minutes.
  private static let renewalInterval = Duration.seconds(20 * 60)
  private static let idleTimeout = Duration.seconds(120)
  /// How often limits of time are checked.
  private static let tick = Duration.milliseconds(100)

  let configuration: Sender.Configuration
  let mailbox: Mailbox
  let poll: EventPoll
  let context: TLSContext
  var hosts: [Host.Key: Host] = [:]
  var connections: [UInt64: (host: Host, connection: Connection)] = [:]
  var lastKey: UInt64 = 0
  private var nextTick = ContinuousClock.now

  init(
    _ configuration: Sender.Configuration, _ mailbox: Mailbox, _ poll: consuming EventPoll,
    _ context: consuming TLSContext
  ) {
    self.configuration = configuration
    self.mailbox = mailbox
    self.poll = poll
    self.context = context
  }

  func run() {
    // A write to a connection that the server has closed is an error, not a signal.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while true {
      let isBusy = hosts.values.contains(where: \.isBusy)
      let ready = poll.wait(for: isBusy ? Self.tick : hosts.isEmpty ? nil : Self.idleTimeout)
      if ready.contains(where: { $0.key == 0 }) {
        let inbox = mailbox.take()
        for batch in inbox.batches { accept(batch) }
        for (key, addresses) in inbox.resolved { connect(hosts[key], addresses) }
        if inbox.isStopped { return stop() }
      }
      for (key, _) in ready { connections[key]?.connection.proceed(poll) }
      if ContinuousClock.now >= nextTick {
        nextTick = .now + Self.tick
        checkTimes()
      }
      for host in Array(hosts.values) { pump(host) }
    }
  }

  private func accept(_ batch: Batch) {
    let now = time(nil)
    for (index, delivery) in batch.deliveries.enumerated() {
      let work = Work(purpose: .delivery(batch, index))
      guard delivery.notification.expiry > now else {
        work.end(.expired)
        continue
      }
      let found = configuration.providers.lazy.compactMap { provider in
        provider.origin(of: delivery.device).map { (provider, $0) }
      }.first
      guard let (provider, origin) = found else {
        work.end(.credentialsRefused("no credentials for the provider"))
        continue
      }
      host(origin, provider, isForAuthorization: false).append(work)
    }
  }

  private func host(_ origin: Origin, _ provider: any Provider, isForAuthorization: Bool) -> Host {
    let key = Host.Key(origin: origin, provider: type(of: provider).name, isForAuthorization: isForAuthorization)
    if let host = hosts[key] { return host }
    let host = Host(key, provider, isForeign: type(of: provider).isOfBrowsers)
    hosts[key] = host
    return host
  }

  /// Ends what has ended, starts what may start, and sends it.
  private func pump(_ host: Host) {
    for connection in host.connections {
      for (exchange, ending) in connection.session.events.takeEnded() {
        connection.idleSince = .now
        if case .responded = ending { connection.hasResponded = true }
        end(exchange, ending, host)
      }
    }
    removeClosed(host)
    if host.isWaitedFor, !isPaused(host), let authorization = authorization(host) {
      start(host, authorization.value)
    }
    for connection in host.connections { connection.flush(poll) }
    let isRemembered = host.isRemembered && hosts.count <= Self.maxHosts
    if host.isForeign, !host.isBusy, host.connections.isEmpty, host.addresses == nil, !isRemembered {
      hosts[host.key] = nil
    }
  }

  /// Whether the server has asked for no requests. What would wait for longer than a response is given back.
  private func isPaused(_ host: Host) -> Bool {
    guard let end = host.pausedUntil else { return false }
    let rest = end - .now
    guard rest > .zero else {
      host.pausedUntil = nil
      return false
    }
    if rest > configuration.timeout {
      host.endAll(.retry(after: Int(rest.components.seconds) + 1, "the server has asked for a pause"))
    }
    return true
  }

  /// What authorizes requests now; nil while it is being fetched. The value is nil if requests need none.
  private func authorization(_ host: Host) -> (value: Authorization?, Void)? {
    if host.key.isForAuthorization { return (nil, ()) }
    let now = time(nil)
    if let authorization = host.authorization, authorization.isValid(at: now) { return (authorization, ()) }
    guard !host.isAuthorizing else { return nil }
    switch host.provider.authorization(for: host.key.origin, now: now) {
    case .ready(let authorization):
      host.authorization = authorization
      return (authorization, ())
    case .fetch(let request):
      host.isAuthorizing = true
      let server = self.host(request.origin, host.provider, isForAuthorization: true)
      server.append(Work(purpose: .authorization(host, request)))
      pump(server)
      return nil
    }
  }

  private func start(_ host: Host, _ authorization: Authorization?) {
    let now = time(nil)
    for connection in host.connections {
      var capacity = connection.session.capacity
      while capacity > 0, !host.isDoubtful || !host.hasExchanges, let work = host.next() {
        guard let request = request(work, host, now) else { continue }
        let exchange = Exchange(
          work, body: request.body, authorization: authorization, readFields: type(of: host.provider).responseFields)
        guard connection.session.submit(request, exchange) else {
          host.putBack(work)
          break
        }
        capacity -= 1
      }
    }
    if host.isWaitedFor, !host.isDoubtful || !host.hasExchanges { addConnection(to: host) }
  }

  /// The request of some work; nil if it has none, and has ended.
  private func request(_ work: Work, _ host: Host, _ now: Int) -> PushRequest? {
    switch work.purpose {
    case .authorization(_, let request): return request
    case .delivery(let batch, let index):
      let delivery = batch.deliveries[index]
      guard delivery.notification.expiry > now else {
        work.end(.expired)
        return nil
      }
      do throws(PushError) {
        return try host.provider.request(for: delivery.notification, to: delivery.device, id: delivery.id, now: now)
      } catch {
        work.end(error.code == .invalidDevice ? .deviceRefused(error.description) : .refused(error.description))
        return nil
      }
    }
  }

  private func end(_ exchange: Exchange, _ ending: Ending, _ host: Host) {
    var work = exchange.work
    switch ending {
    case .lost(let reason):
      host.noteSilence(since: exchange.started)
      if case .authorization = work.purpose { work.end(.retry(after: nil, reason)) } else { work.end(.unknown(reason)) }
    case .unprocessed:
      work.returns += 1
      guard work.returns < Self.maxReturns else { return work.end(.retry(after: nil, "the server refuses streams")) }
      host.putBack(work)
    case .responded:
      host.noteResponse()
      if case .authorization(let other, _) = work.purpose { return authorize(other, exchange.response) }
      switch host.provider.outcome(of: exchange.response, now: time(nil)) {
      case .authorizationExpired:
        guard !work.isRenewed, renew(exchange.authorization, of: host) else {
          return work.end(.credentialsRefused("the authorization has expired, and so has the next one"))
        }
        work.isRenewed = true
        host.putBack(work)
      case .retry(let seconds, let reason):
        if let seconds { host.pause(seconds) }
        work.end(.retry(after: seconds, reason))
      case let outcome: work.end(outcome)
      }
    }
  }

  /// Discards an authorization, unless another one has replaced it; false if that happened too recently.
  private func renew(_ authorization: Authorization?, of host: Host) -> Bool {
    guard authorization == host.authorization else { return true }
    if let last = host.lastRenewal, last + Self.renewalInterval > .now { return false }
    host.lastRenewal = .now
    host.authorization = nil
    return true
  }

  private func authorize(_ host: Host, _ response: PushResponse) {
    let now = time(nil)
    host.isAuthorizing = false
    host.authorization = host.provider.authorization(from: response, now: now)
    guard host.authorization == nil else { return pump(host) }
    let reason = "the token server answers with status \(response.status)"
    let seconds = response.retryAfter(now: now)
    if let seconds { host.pause(seconds) }
    let isLater = response.status == 429 || response.status >= 500
    host.endAll(isLater ? .retry(after: seconds, reason) : .credentialsRefused(reason))
  }

  private func checkTimes() {
    let limit = ContinuousClock.now - configuration.timeout
    for (_, connection) in connections.values {
      connection.session.cancel(startedBefore: limit, "no response within \(configuration.timeout)")
      // Nothing at all has arrived since a request was sent: the connection is dead, not one stream.
      let events = connection.session.events
      if connection.lastReceived < limit, !events.ended.isEmpty {
        connection.close("no byte within \(configuration.timeout)")
      }
      guard events.exchanges.isEmpty else { continue }
      // Whatever arrives, the server has not sent its settings, or permits no stream.
      if connection.session.capacity == 0, connection.idleSince < limit {
        connection.close("the server accepts no request within \(configuration.timeout)")
      }
      if connection.idleSince + Self.idleTimeout < .now { connection.close("idle") }
    }
  }

  private func stop() {
    for (host, connection) in connections.values {
      connection.close("the sender has stopped")
      for (exchange, ending) in connection.session.events.takeEnded() { end(exchange, ending, host) }
    }
    for host in hosts.values { host.endAll(Sender.stopped) }
  }
}
