import Glibc
package import Platform

/// Sends notifications over HTTP/2, by one thread that owns all connections.
///
/// Its memory is bounded by what its callers wait for: a request is made when a stream is free for it.
package final class Sender: Sendable {
  package struct Configuration: Sendable {
    package var providers: [any Provider] = []
    /// A file of trusted certificates in PEM; nil: the system's.
    package var certificates: String?
    /// Addresses that subscriptions of browsers may have in addition to public ones.
    package var permitted: [AddressRange] = []
    /// The time for a connection, and for the response to a request.
    package var timeout: Duration = .seconds(20)
    package var maxConnectionsPerHost = 2

    package init() {}

    /// Reads the file of certificates.
    ///
    /// - Throws: `invalidCredentials` if it has none.
    package func checkCertificates() throws(PushError) {
      if certificates != nil { _ = try TLSContext(certificates: certificates) }
    }
  }

  /// What the thread receives.
  struct Inbox {
    var batches: [Batch] = []
    var resolved: [(Host.Key, [SocketAddress])] = []
    var isStopped = false
  }

  static let stopped = Outcome.retry(after: nil, "the sender has stopped")

  private let mailbox: Mailbox
  private let thread: NoncopyableBox<NamedThread>

  package init(_ configuration: Configuration) throws(PushError) {
    let context = NoncopyableBox(try TLSContext(certificates: configuration.certificates))
    do throws(SystemError) {
      let mailbox = Mailbox(try Event())
      let events = try EventPoll()
      try events.add(mailbox.event.number, key: 0, for: .readable)
      let poll = NoncopyableBox(events)
      thread = NoncopyableBox(
        try NamedThread(name: "push") {
          guard let poll = poll.take(), let context = context.take() else { return }
          SendingLoop(configuration, mailbox, poll, context).run()
        })
      self.mailbox = mailbox
    } catch {
      throw PushError(.unavailable, "\(error)")
    }
  }

  deinit { stop() }

  /// Sends notifications.
  ///
  /// - Parameter report: receives the index of each delivery and its outcome, once, as soon as it is known, on the thread of the sender,
  ///   which it must not block.
  package func send(_ deliveries: [Delivery], report: @escaping @Sendable (Int, Outcome) -> Void) {
    guard !deliveries.isEmpty else { return }
    let batch = Batch(deliveries, report)
    guard mailbox.post({ $0.batches.append(batch) }) else { return batch.endAll(Self.stopped) }
  }

  /// Stops, and reports waiting deliveries as `retry`, sent ones as `unknown`.
  package func stop() {
    mailbox.post { $0.isStopped = true }
    thread.take()?.join()
  }
}

/// What other threads post to the thread of a sender.
final class Mailbox: Sendable {
  private let inbox = Locked(Sender.Inbox())
  let event: Event

  init(_ event: consuming Event) { self.event = event }

  /// Returns false once the sender has stopped.
  @discardableResult
  func post(_ change: (inout Sender.Inbox) -> Void) -> Bool {
    let isAccepted = inbox.withLock { inbox in
      guard !inbox.isStopped else { return false }
      change(&inbox)
      return true
    }
    event.signal()
    return isAccepted
  }

  func take() -> Sender.Inbox {
    event.clear()
    return inbox.withLock { inbox in
      defer { inbox = Sender.Inbox(isStopped: inbox.isStopped) }
      return inbox
    }
  }
}
