internal import Kit
import Model
package import Postgres
import Queue
import Store

/// The way of an event to the endpoints.
extension Webhooks: EventConsumer {
  package static func receive(from first: Int64, through last: Int64, _ session: Session) throws {
    // Locked as outcomes are recorded: no message waits for one that has just ended.
    guard try !session.execute(statements["lock_webhooks"]).isEmpty else { return }
    try session.execute(statements["receive"], .integer(first), .integer(last))
  }

  package static func enqueueDue(_ session: Session) throws -> Double? {
    var next: Double?
    for row in try session.execute(statements["due_webhooks"]) {
      let seconds: Double = try row.get("seconds")
      if seconds > 0 {
        next = min(next ?? seconds, seconds)
      } else {
        try JobQueue.ensure(job(try row.publicID("public_id")), session)
      }
    }
    return next
  }

  private static func job(_ id: PublicID) throws -> NewJob {
    NewJob(
      publicID: .now(), queue: WebhookCourier.queueName, kind: "webhook", maxAttempts: 1000, deadlineSeconds: 600,
      uniqueKey: Array("webhook:\(id)".utf8), arguments: try JSON.encode(["endpoint": "\(id)"]))
  }

  /// An endpoint to which something may be sent, and the messages that are due.
  struct Sender: Sendable {
    let number: Int64
    let url: String
    let headers: [String: String]
    /// The former one as well, while it is valid.
    let secrets: [WebhookSecret]
    var messages: [Message] = []
  }

  struct Message: Sendable {
    let position: Int64
    let attempts: Int
    /// Nil: the event is gone, or cannot be read.
    let event: UserEvent?
    var isUnreadable = false

    /// Whether it is sent once, so that the list says at once what became of it.
    var isTest: Bool { event?.kind == Webhooks.testKind }
  }

  /// The most messages that are sent at a time. To an endpoint that fails it is one, whatever waits for it.
  static let pageSize = 16

  /// Reads the messages that are due, the oldest of each subject; nil if none is.
  static func sender(_ id: PublicID, _ session: Session) throws -> Sender? {
    guard let row = try session.execute(statements["sender"], .text("\(id)")).first else { return nil }
    let secrets = [try row.get("secret"), try row.get("former_secret", as: [UInt8]?.self)].compactMap(\.self)
    var sender = Sender(
      number: try row.get("id"), url: try row.get("url"), headers: try row.json("headers"),
      secrets: secrets.map(WebhookSecret.init(bytes:)))
    let limit = try row.get("failures", as: Int.self) > 0 ? 1 : pageSize
    let rows = try session.execute(statements["messages"], .integer(sender.number), .integer(limit), .texts(codeKinds))
    sender.messages = try rows.map { row in
      let (position, attempts): (Int64, Int) = (try row.get("position"), try row.get("attempts"))
      guard try row.get("kind", as: String?.self) != nil else {
        return Message(position: position, attempts: attempts, event: nil)
      }
      do { return Message(position: position, attempts: attempts, event: try Events.event(row)) } catch
        where SetAside.isOfRow(error)
      {
        try Events.noteUnreadable(row, error, session)
        return Message(position: position, attempts: attempts, event: nil, isUnreadable: true)
      }
    }
    return sender.messages.isEmpty ? nil : sender
  }

  /// Records what became of messages, in the transaction of `JobQueue.confirm`.
  ///
  /// - Returns: why the endpoint was disabled, or the number of its failures in a row; nil if it was deleted or disabled meanwhile.
  static func record(
    _ outcomes: [(message: Message, outcome: WebhookOutcome)], of sender: Sender, _ session: Session
  ) throws -> WebhookTurn? {
    guard let row = try session.execute(statements["lock_sender"], .integer(sender.number)).first else { return nil }
    let positions = Parameter.integers(outcomes.map(\.message.position))
    let rows = outcomes.map { message, outcome in
      outcome.record(attempts: message.isTest ? WebhookOutcome.pauses.count : message.attempts)
    }
    try session.execute(
      statements["record_outcomes"], .integer(sender.number), positions, .texts(rows.map(\.state.rawValue)),
      .texts(rows.map { $0.pause.map { "\($0)" } }), .integers(rows.map { $0.status.map(Int64.init) }),
      .texts(rows.map(\.error)), .integers(outcomes.map { $0.outcome == .setAside ? 0 : 1 }))
    try session.execute(statements["start_next"], .integer(sender.number), positions)
    try session.execute(statements["drop_codes"], positions, .texts(codeKinds))
    guard try !row.get("is_disabled", as: Bool.self) else { return nil }
    // A test that fails is no failure of the endpoint: nothing that happens meanwhile repeats it.
    let counted = outcomes.filter { !($0.message.isTest && $0.outcome.isFailure) }
    let turn = WebhookTurn(
      counted.map(\.outcome), failures: try row.get("failures"),
      failingSeconds: try row.get("failing_seconds", as: Double?.self) ?? 0)
    let id = try session.execute(
      statements["record_turn"], .integer(sender.number), .integer(turn.failures), .double(turn.pause),
      .text(turn.cause?.rawValue)
    ).single().publicID("public_id")
    if outcomes.contains(where: { $0.outcome.isFailure }) { try Events.wake(session) }
    if turn.cause != nil {
      try Store.notify(UserEvent.service, of: .webhookDisabled, by: nil, subject: id, session)
    }
    return turn
  }
}
