import FoundationEssentials
internal import HTTPClient
import Model
internal import Platform
package import Postgres
package import Queue
import Store
package import Telemetry

/// Sends the messages of one endpoint after another, while something is due.
package struct WebhookCourier: Courier {
  static let queueName = "webhooks"
  /// The time after which the next page is that of another call, on other connections.
  private static let turn = Duration.seconds(10)
  /// What is read of a response, in bytes.
  private static let maxReply = 4096

  package let queue = WebhookCourier.queueName
  package let slots = 4
  private let permits: WebhookPermits
  private let timeout: Int
  private let log: Logger

  /// - Parameter timeout: the time for a request, in seconds.
  package init(permits: WebhookPermits, timeout: Int = 15, _ log: Logger) {
    self.permits = permits
    self.timeout = timeout
    self.log = log
  }

  package func deliver(_ job: ClaimedJob, isStopped: @escaping @Sendable () -> Bool, _ pool: Pool) async throws -> Bool
  {
    let id = try endpoint(of: job)
    let end = ContinuousClock.now + Self.turn
    var client: (url: String, HTTPClient)?
    while !isStopped(), ContinuousClock.now < end {
      guard let sender = try await pool.run({ try Webhooks.sender(id, $0) }) else { return false }
      let outcomes = try await send(sender, by: &client)
      let turn = try await pool.transaction { session in
        try JobQueue.confirm(job, session)
        return try Webhooks.record(outcomes, of: sender, session)
      }
      note(turn, outcomes.map(\.outcome), id, sender)
    }
    return true
  }

  package func hasDue(_ job: ClaimedJob, _ session: Session) throws -> Bool {
    try Webhooks.sender(endpoint(of: job), session) != nil
  }

  private func endpoint(of job: ClaimedJob) throws -> PublicID {
    let arguments = try JSON.decode([String: String].self, from: job.arguments)
    guard let id = arguments["endpoint"].flatMap({ PublicID($0) }) else {
      throw StoreError.unreadableJob(job.publicID, "it names no endpoint")
    }
    return id
  }

  /// - Parameter client: the client of the page before, whose connections are open.
  private func send(
    _ sender: Webhooks.Sender, by client: inout (url: String, HTTPClient)?
  ) async throws -> [(message: Webhooks.Message, outcome: WebhookOutcome)] {
    let target = RequestURL(sender.url)
    if client?.url != sender.url {
      client = target.map {
        (sender.url, HTTPClient(server: $0.server, usesProxies: false))
      }
    }
    let connected = client?.1
    var outcomes: [(message: Webhooks.Message, outcome: WebhookOutcome)] = []
    try await sender.messages.forEach(concurrently: Webhooks.pageSize) { message in
      guard let event = message.event else {
        return message.isUnreadable ? WebhookOutcome.setAside : WebhookOutcome.withdrawn
      }
      guard let target, let client = connected, permits.problem(with: sender.url) == nil else {
        return .refused
      }
      let request = try Self.request(event, message.position, to: target, sender)
      // A response may repeat the header fields, which may be secrets.
      let shows = sender.headers.isEmpty
      return try await onThread("webhook") {
        do throws(HTTPClientError) {
          let response = try client.send(request, cutAt: Self.maxReply, within: timeout) { address in
            permits.admits(address, of: target.server.host)
          }
          return WebhookOutcome(response, now: Self.now, showing: shows && !Webhooks.accountKinds.contains(event.kind))
        } catch {
          return WebhookOutcome(error)
        }
      }
    } receive: { message, outcome in
      outcomes.append((message, outcome))
    }
    return outcomes
  }

  private static func request(
    _ event: UserEvent, _ position: Int64, to target: RequestURL, _ sender: Webhooks.Sender
  ) throws -> HTTPRequest {
    let body = try JSON.encode(WebhookBody(event: event))
    let id = PageCursor(time: event.createdAt.microseconds, id: position).text
    let timestamp = now
    var headers: [(name: String, value: String)] = [
      ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
      ("webhook-signature", sender.secrets.map { $0.signature(of: id, timestamp, body) }.joined(separator: " ")),
    ]
    for (name, value) in sender.headers { headers.append((name, value)) }
    return HTTPRequest("POST", target.path, headers: headers, body: .bytes(body))
  }

  private static var now: Int { Int(Date.now.timeIntervalSince1970) }

  private func note(_ turn: WebhookTurn?, _ outcomes: [WebhookOutcome], _ id: PublicID, _ sender: Webhooks.Sender) {
    guard let turn, turn.cause != nil || turn.failures == 1 else { return }
    var (error, detail): (String?, String?)
    for case .failed(let status, let text, _, let cause) in outcomes {
      (error, detail) = (status.map { "status \($0)" } ?? text, cause)
    }
    let origin = RequestURL(sender.url).map { "\($0.server)" }
    log.warning(
      turn.cause == nil ? "a webhook fails" : "a webhook is disabled",
      ["webhook": "\(id)", "origin": origin, "cause": turn.cause?.rawValue, "error": error, "detail": detail])
  }
}

/// The body of a message.
private struct WebhookBody: Encodable {
  let event: UserEvent

  private enum CodingKeys: String, CodingKey { case type, timestamp, data }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(event.kind, forKey: .type)
    try container.encode(event.createdAt, forKey: .timestamp)
    try container.encode(UserEventResponse(event, isForAll: true), forKey: .data)
  }
}
