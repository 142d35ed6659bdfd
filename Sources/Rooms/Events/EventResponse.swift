import FoundationEssentials
internal import Model

/// The JSON of an event; of the usual fields those that do not apply are null.
struct UserEventResponse: Encodable {
  private let event: UserEvent
  private let isForAll: Bool

  /// - Parameter isForAll: whether it is for a back-end, which receives the events of all users.
  init(_ event: UserEvent, isForAll: Bool = false) {
    self.event = event
    self.isForAll = isForAll
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    let kind = EventKind(event.kind)
    let subject = kind?.subject ?? "image"
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(event.kind, forKey: Key("kind"))
    if isForAll {
      try container.encode(event.isOfUser ? event.receiver : nil, forKey: Key("receiver"))
    }
    // The events of moderators are about cases alone.
    if subject != "case" {
      try container.encode(event.actor, forKey: Key("user"))
      try container.encode(event.post, forKey: Key("post"))
      for name in ["comment", "image"] where name != subject { try container.encodeNil(forKey: Key(name)) }
    }
    try container.encode(event.subject, forKey: Key(subject))
    let isCounted = kind?.isCounted == true
    if isCounted { try container.encode(event.count, forKey: Key("count")) }
    for (name, value) in (event.data ?? [:]).sorted(by: { $0.key < $1.key }) where !isCounted || name != "count" {
      try container.encode(value, forKey: Key(name))
    }
    try container.encode(event.createdAt, forKey: Key("created_at"))
  }
}

/// The JSON of the opening or closing of a daily window.
struct WindowChangeResponse: Encodable {
  let open: Bool
  let openedAt: Date
  let closesAt: Date

  init(_ change: WindowChange) {
    open = change.isOpening
    openedAt = change.openedAt
    closesAt = change.closesAt
  }
}

/// The JSON of a ticket.
struct TicketResponse: Encodable {
  let ticket: String
  let expiresAt: Date
}
