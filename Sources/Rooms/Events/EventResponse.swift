import FoundationEssentials
internal import Model

/// The JSON of an event; values that do not apply are null.
struct UserEventResponse: Encodable {
  private let event: UserEvent

  init(_ event: UserEvent) { self.event = event }

  private enum CodingKeys: String, CodingKey { case kind, user, post, comment, image, createdAt }

  func encode(to encoder: any Encoder) throws {
    // The events of moderators are about cases alone.
    if event.kind == UserEvent.Kind.caseOpened.rawValue { return try encodeCase(to: encoder) }
    let isComment = event.kind == UserEvent.Kind.comment.rawValue
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(event.kind, forKey: .kind)
    try container.encode(event.actor, forKey: .user)
    try container.encode(event.post, forKey: .post)
    try container.encode(isComment ? event.subject : nil, forKey: .comment)
    try container.encode(isComment ? nil : event.subject, forKey: .image)
    try container.encode(event.createdAt, forKey: .createdAt)
  }

  private enum CaseKeys: String, CodingKey { case kind, `case`, createdAt }

  private func encodeCase(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CaseKeys.self)
    try container.encode(event.kind, forKey: .kind)
    try container.encode(event.subject, forKey: .case)
    try container.encode(event.createdAt, forKey: .createdAt)
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
