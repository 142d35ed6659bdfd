import FoundationEssentials
import Model
import Postgres
import Rooms

extension RoomProgram {
  static let webhooks = RoomProgram(
    commands: [
      .webhooksList, .webhooksCreate, .webhooksShow, .webhooksEnable, .webhooksRotate, .webhooksDelete,
      .webhooksDeliveries, .webhooksReplay,
    ],
    workerOptions: [.webhookPermit]
  ) { configuration, log in WebhookCourier(permits: configuration.api.rooms.webhookPermits, log) }
}

extension OptionValues {
  /// A comma-separated list of hosts and ranges of addresses.
  static let permits = OptionValues.format("permits") { text in
    WebhookPermits(text) == nil
      ? "must be hosts and ranges such as 10.0.0.0/8, separated by commas, not '\(text)'" : nil
  }
}

extension Option {
  static let webhookPermit = Option(
    \.api.rooms.webhookPermits, "--webhook-permit", "HOSTS", .permits,
    help:
      "hosts and address ranges that webhooks may use although they are private or lack TLS, such as mailer.internal,10.0.0.0/8"
  )
}

extension Subcommand {
  static let webhooksList = Subcommand(
    "webhooks list", abstract: "List the webhooks, newest first.", options: Option.storeAccess,
    example: "take5 webhooks list"
  ) { arguments in
    let webhooks = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { try Webhooks.list(PageRequest(limit: PageRequest.limits.upperBound), $0) }
    }.items
    for webhook in webhooks { try print(webhook, arguments) }
    if webhooks.isEmpty, !arguments.has("--json") { try Console.print("no webhooks") }
    return .success
  }

  static let webhooksCreate = Subcommand(
    "webhooks create", abstract: "Send events to a URL; the secret is printed once.", operands: ["URL"],
    options: [
      Option(
        "--kinds", "KINDS", .list(of: UserEvent.Kind.self), help: "comma-separated list of the kinds of events to send"),
      .webhookPermit,
    ] + Option.storeAccess,
    example: "take5 webhooks create https://app.example.org/take5 --kinds post_ready,comment"
  ) { arguments in
    let url = arguments.operands[0]
    let permits = try ServiceConfiguration([.webhookPermit], arguments).api.rooms.webhookPermits
    if let problem = permits.problem(with: url) {
      throw CommandFailure(.usage, "the URL \(problem)", remedy: "pass the URL of the app's back-end")
    }
    let kinds = (try arguments.checked("--kinds") ?? "").split(separator: ",").compactMap {
      UserEvent.Kind(rawValue: String($0))
    }
    guard !kinds.isEmpty else {
      throw CommandFailure(.usage, "--kinds is missing", remedy: "name at least one kind of event, such as post_ready")
    }
    try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        let (webhook, secret) = try Webhooks.create(url: url, kinds: kinds, session)
        // Printed before the commit: if standard output fails, nothing is stored.
        try Console.print(
          arguments.has("--json")
            ? try JSON.text(WebhookResponse(webhook, secret: secret))
            : "webhook \(webhook.id): \(secret)\nThe secret is not shown again.")
      }
    }
    return .success
  }

  static let webhooksShow = single("show", "Show a webhook.") { id, arguments, session in
    guard let webhook = try Webhooks.find(id, session) else { return false }
    try print(webhook, arguments)
    return true
  }

  static let webhooksEnable = single("enable", "Send to a webhook again that was disabled.") { id, arguments, session in
    guard let webhook = try Webhooks.change(id, session, by: { $0.cause = nil }) else { return false }
    try print(webhook, arguments)
    return true
  }

  static let webhooksRotate = single(
    "rotate", "Give a webhook another secret; messages are signed with the former one too for 24 hours."
  ) { id, arguments, session in
    guard let secret = try Webhooks.rotate(id, session) else { return false }
    try Console.print(
      arguments.has("--json")
        ? try JSON.text(["secret": secret]) : "webhook \(id): \(secret)\nThe secret is not shown again.")
    return true
  }

  static let webhooksDelete = single("delete", "Delete a webhook and its deliveries.") { id, arguments, session in
    guard try Webhooks.delete(id, session) else { return false }
    try Console.print(arguments.has("--json") ? "{\"deleted\":\"\(id)\"}" : "webhook \(id) is deleted")
    return true
  }

  static let webhooksDeliveries = single(
    "deliveries", "List the deliveries of a webhook, newest first.",
    [
      Option("--state", "STATE", .choice(of: WebhookDelivery.State.self), help: "pending, delivered or failed"),
      Option(
        "--limit", "N", .integer(1...PageRequest.limits.upperBound), default: "50", help: "maximum number of deliveries"
      ),
    ]
  ) { id, arguments, session in
    let state = try arguments.choice("--state", of: WebhookDelivery.State.self)
    let page = PageRequest(limit: try arguments.number("--limit") ?? 50)
    guard let deliveries = try Webhooks.deliveries(to: id, state, page, session)?.items else { return false }
    for delivery in deliveries {
      try Console.print(arguments.has("--json") ? try JSON.text(delivery) : line(delivery))
    }
    if deliveries.isEmpty, !arguments.has("--json") { try Console.print("no deliveries") }
    return true
  }

  static let webhooksReplay = single(
    "replay", "Send deliveries again: one, or the failed ones.",
    [
      Option("--delivery", "ID", help: "this delivery"),
      Option("--since", "TIME", help: "failed deliveries of events since this time, such as 2026-11-20T18:30:00Z"),
    ]
  ) { id, arguments, session in
    var count: Int? = 0
    if let delivery = arguments.value("--delivery") {
      count = try Webhooks.replay(delivery, to: id, session) ? 1 : nil
    } else {
      let since = arguments.value("--since")
      guard let time = since.map({ JSON.date(from: $0) }) ?? .distantPast else {
        throw CommandFailure(.usage, "'\(since ?? "")' is not a time", remedy: "pass one such as 2026-11-20T18:30:00Z")
      }
      count = try Webhooks.replayFailed(since: time, to: id, session)
    }
    guard let count else { return false }
    try Console.print(arguments.has("--json") ? "{\"replayed\":\(count)}" : "\(count) are sent again")
    return true
  }

  /// A command about one webhook; `body` returns false if it is not there.
  private static func single(
    _ name: String, _ abstract: String, _ options: [Option] = [],
    _ body: @escaping @Sendable (PublicID, Arguments, Session) throws -> Bool
  ) -> Subcommand {
    Subcommand(
      "webhooks \(name)", abstract: abstract, operands: ["WEBHOOK"], options: options + Option.storeAccess,
      example: "take5 webhooks \(name) 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
    ) { arguments in
      let isFound = try await DatabaseAccess.use(arguments) { pool in
        try await pool.transaction { session in
          try PublicID(arguments.operands[0]).map { try body($0, arguments, session) } ?? false
        }
      }
      guard isFound else {
        throw CommandFailure(
          .inputMissing, "there is no such webhook or delivery", remedy: "'take5 webhooks list' lists the webhooks")
      }
      return .success
    }
  }

  private static func print(_ webhook: Webhook, _ arguments: Arguments) throws {
    let state =
      webhook.cause.map { "disabled (\($0.rawValue))" } ?? (webhook.failingSince == nil ? "enabled" : "failing")
    try Console.print(
      arguments.has("--json")
        ? try JSON.text(WebhookResponse(webhook, secret: nil))
        : "\(webhook.id)  \(webhook.url)  \(webhook.kinds.joined(separator: ","))  \(state)")
  }

  private static func line(_ delivery: WebhookDelivery) -> String {
    let time = delivery.createdAt.map { JSON.text(of: $0) } ?? "-"
    return "\(delivery.id)  \(time)  \(delivery.kind ?? "-")  \(delivery.state.rawValue)  "
      + "attempts \(delivery.attempts)\(delivery.error.map { "  \($0)" } ?? "")"
  }
}
