import CRoomsSQL
package import FoundationEssentials
package import Model
package import Postgres
package import Queue
package import Store

/// The endpoints of apps' back-ends, to which events are sent by the rules of standardwebhooks.com.
package enum Webhooks: Room {
  package static let statements = Statements(
    topic: "webhooks", Store.fragments, RoomsSQL.Webhooks)

  package static let migrations = [
    Migration(version: 152, name: "webhooks", RoomsSQL.v0152_webhooks),
    Migration(version: 178, name: "webhook_headers", RoomsSQL.v0178_webhook_headers),
  ]

  package static var maintenance: [MaintenanceTask] {
    [MaintenanceTask("webhook deliveries") { try $0.execute(statements["drop_old_deliveries"]).affected }]
  }

  package static var forgetting: [ForgettingStep] { [ForgettingStep(statements["blank_errors_about"])] }

  /// Stores an endpoint.
  ///
  /// - Returns: its secret as well, which is not shown again.
  package static func create(
    url: String, kinds: [UserEvent.Kind], headers: [String: String] = [:], _ session: Session
  ) throws -> (webhook: Webhook, secret: String) {
    let (id, secret) = (PublicID.now(), WebhookSecret())
    try session.execute(
      statements["insert_webhook"], .text("\(id)"), .text(url), .texts(kinds.map(\.rawValue)), .bytes(secret.bytes),
      .text(try JSON.text(headers)))
    guard let created = try find(id, session) else { throw PostgresError(.decoding, "no webhook \(id)") }
    return (created, secret.text)
  }

  /// Reads an endpoint; nil if there is none.
  package static func find(_ id: PublicID, _ session: Session) throws -> Webhook? {
    try session.execute(statements["webhook"], .text("\(id)")).first.map(webhook)
  }

  /// Reads a page of the endpoints, the newest first.
  package static func list(_ page: PageRequest, _ session: Session) throws -> Page<Webhook> {
    try Page(session.execute(statements["webhooks"], page.parameters), page) { try $0.map(webhook) }
  }

  /// Changes an endpoint; nil if there is none.
  ///
  /// - Parameter change: receives the locked endpoint; the caller must roll back if it throws.
  package static func change(
    _ id: PublicID, _ session: Session, by change: (inout Webhook) throws -> Void
  ) throws -> Webhook? {
    guard let number = try lock(id, session), var changed = try find(id, session) else { return nil }
    let wasEnabled = changed.state == .enabled
    try change(&changed)
    try session.execute(
      statements["change_webhook"], .text("\(id)"), .text(changed.url), .texts(changed.kinds),
      .text(changed.cause?.rawValue), .text(try JSON.text(changed.headers)))
    if changed.state == .enabled {
      if !wasEnabled { try session.execute(statements["start_all"], .integer(number)) }
      try Events.wake(session)
    }
    return try find(id, session)
  }

  /// Gives an endpoint another secret, which is not shown again; nil if there is none. Messages are signed with the former one too, for a day.
  ///
  /// - Parameter check: receives the kinds of the locked endpoint; the caller must roll back if it throws.
  package static func rotate(
    _ id: PublicID, _ session: Session, check: ([String]) throws -> Void = { _ in }
  ) throws -> String? {
    guard try lock(id, session) != nil, let found = try find(id, session) else { return nil }
    try check(found.kinds)
    let secret = WebhookSecret()
    let changed = try session.execute(statements["rotate_secret"], .text("\(id)"), .bytes(secret.bytes))
    return changed.isEmpty ? nil : secret.text
  }

  /// Deletes an endpoint; false if there is none. Its messages, of which there may be many, go later, and its row then.
  ///
  /// - Parameter check: receives the locked endpoint; the caller must roll back if it throws.
  package static func delete(
    _ id: PublicID, _ session: Session, check: (Webhook) throws -> Void = { _ in }
  ) throws -> Bool {
    guard try lock(id, session) != nil, let found = try find(id, session) else { return false }
    try check(found)
    return try session.execute(statements["delete_webhook"], .text("\(id)")).affected > 0
  }

  /// Locks an endpoint, and returns its number; nil if there is none.
  static func lock(_ id: PublicID, _ session: Session) throws(PostgresError) -> Int64? {
    try session.execute(statements["lock_webhook"], .text("\(id)")).first?.get("id")
  }

  private static func webhook(_ row: Row) throws -> Webhook {
    let cause = try row.get("disabled_cause", as: String?.self)
    return Webhook(
      id: try row.publicID("public_id"), url: try row.get("url"),
      kinds: try row.get("kinds", as: String.self).split(separator: " ").map(String.init),
      headers: try row.json("headers"),
      cause: cause.map { Webhook.Cause(rawValue: $0) ?? .operator }, disabledAt: try row.date("disabled_at"),
      failingSince: try row.date("failing_since"), createdAt: Date(microseconds: try row.get("created_at")))
  }
}

extension Row {
  fileprivate func date(_ column: String) throws(PostgresError) -> Date? {
    try get(column, as: Int64?.self).map(Date.init(microseconds:))
  }
}

/// The messages, for operators.
extension Webhooks {
  /// Reads a page of the messages to an endpoint, the newest first; nil if there is no such endpoint.
  ///
  /// - Parameter state: nil: of all states.
  package static func deliveries(
    to id: PublicID, _ state: WebhookDelivery.State?, _ page: PageRequest, _ session: Session
  ) throws -> Page<WebhookDelivery>? {
    guard try find(id, session) != nil else { return nil }
    // As in the conditions of the indexes.
    let condition =
      switch state {
      case nil: "true"
      case .delivered: "state = 'delivered'"
      case .pending: "state = 'pending' AND state <> 'delivered'"
      case .failed: "state = 'failed' AND state <> 'delivered'"
      }
    let rows = try session.execute(
      statements["deliveries"].filled(state?.rawValue ?? "all", ["condition": condition]), .text("\(id)"),
      .integer(page.after?.id ?? .max), .integer(page.limit + 1))
    return try Page(rows, page, by: cursor) { try $0.map(delivery) }
  }

  /// Sends a message again, which has been delivered or has failed; false if there is none that can be sent again.
  package static func replay(_ delivery: String, to id: PublicID, _ session: Session) throws -> Bool {
    guard let position = PageCursor(delivery)?.id, let number = try lock(id, session) else { return false }
    let rows = try session.execute(
      statements["replay"], .integer(number), .integer(position), .texts(codeKinds))
    return try restart(rows, of: number, session) > 0
  }

  /// Sends an endpoint a message that no other one gets, unless one waits already; nil if there is no such endpoint.
  ///
  /// - Parameter check: receives the locked endpoint; the caller must roll back if it throws.
  /// - Returns: the id of the message.
  package static func sendTest(
    to id: PublicID, _ session: Session, check: (Webhook) throws -> Void = { _ in }
  ) throws -> String? {
    // A refusal holds up no placement of events.
    guard let webhook = try find(id, session) else { return nil }
    try check(webhook)
    // In the order in which the placement of events locks.
    try Events.lockPositions(session)
    guard let number = try lock(id, session), let found = try find(id, session) else { return nil }
    try check(found)
    if let recent = try session.execute(statements["recent_test"], .text("\(id)"), .text(UserEvent.service)).first {
      return try cursor(recent).text
    }
    try session.execute(statements["resume"], .integer(number))
    try Events.wake(session)
    if let waiting = try session.execute(statements["waiting_test"], .integer(number), .text("\(id)")).first {
      return try cursor(waiting).text
    }
    let inserted = try session.execute(
      statements["insert_test"], .integer(number), .text("\(id)"), .text(UserEvent.service), .text(testKind),
      .text(try JSON.text(["webhook": "\(id)"])))
    return try cursor(inserted.single()).text
  }

  /// Sends the messages again that have failed, without tests, of the events since a time, the oldest 10,000; nil if
  /// there is no such endpoint.
  package static func replayFailed(
    since time: Date, to id: PublicID, _ session: Session
  ) throws -> Int? {
    guard let number = try lock(id, session) else { return nil }
    let rows = try session.execute(
      statements["replay_failed"], .integer(number), .timestamp(microseconds: time.microseconds), .texts(codeKinds),
      .text(testKind))
    return try restart(rows, of: number, session)
  }

  /// Puts messages that wait again in their order.
  private static func restart(_ rows: Rows, of number: Int64, _ session: Session) throws -> Int {
    let positions = Parameter.integers(try rows.map { try $0.get("position", as: Int64.self) })
    try session.execute(statements["stop_others"], .integer(number), positions)
    try session.execute(statements["start_next"], .integer(number), positions)
    try session.execute(statements["resume"], .integer(number))
    try Events.wake(session)
    return rows.count
  }

  /// The kinds about accounts, which have the addresses of users: a webhook of them is one of a client that may act as any user.
  static let accountKinds =
    codeKinds + [UserEvent.Kind.sessionStarted, .passwordChanged, .emailChanged].map(\.rawValue)

  /// The kind of test messages. No endpoint asks for it, and no stream and no device has it: it is in no list of kinds.
  static let testKind = "webhook_test"

  /// The kinds with one-time codes, which are nowhere once they are delivered.
  static let codeKinds = [
    UserEvent.Kind.verificationRequested.rawValue, UserEvent.Kind.passwordResetRequested.rawValue,
  ]

  private static func cursor(_ row: Row) throws -> PageCursor {
    PageCursor(time: try row.get("created_at", as: Int64?.self) ?? 0, id: try row.get("position"))
  }

  private static func delivery(_ row: Row) throws -> WebhookDelivery {
    WebhookDelivery(
      id: try cursor(row).text, kind: try row.get("kind"), state: try row.enumValue("state"),
      attempts: try row.get("attempts"), status: try row.get("status"), error: try row.get("error"),
      createdAt: try row.date("created_at"), triedAt: try row.date("tried_at"), nextAt: try row.date("next_at"))
  }
}
