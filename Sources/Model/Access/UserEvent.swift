package import FoundationEssentials

/// Something that concerns a user.
package struct UserEvent: Sendable, Hashable {
  /// The kind of an event that says nothing any more; no client receives it.
  package static let blank = "forgotten"

  /// The receiver of events that concern no user.
  package static let service = unassignable("service")

  /// The reader of the events of all users.
  package static let everyone = unassignable("everyone")

  /// A name that is longer than the id of a user may be, so that no client acts as it.
  private static func unassignable(_ name: String) -> String { name + String(repeating: " ", count: 256) }

  /// The position among the events of the user: 1, 2, and so on; for the reader of all, among the events of all users.
  package let number: Int64
  package let kind: String
  /// The user who caused it; nil: the service did.
  package let actor: String?
  package let post: PublicID?
  /// What it is about, besides a post: see `EventKind.subject`.
  package let subject: PublicID?
  /// What else the kind has, as a JSON object.
  package let data: [String: String]?
  package let createdAt: Date
  /// The user whom it concerns.
  package let receiver: String

  /// The number of acts that it reports, of a kind that counts them.
  package var count: Int { data?["count"].flatMap { Int($0) } ?? 1 }

  /// Whether it concerns a user, rather than the moderators or the service.
  package var isOfUser: Bool { !receiver.isEmpty && receiver != Self.service }

  package init(
    number: Int64, kind: String, actor: String?, post: PublicID?, subject: PublicID?, data: [String: String]? = nil,
    createdAt: Date, receiver: String
  ) {
    self.number = number
    self.kind = kind
    self.actor = actor
    self.post = post
    self.subject = subject
    self.data = data
    self.createdAt = createdAt
    self.receiver = receiver
  }
}

/// How far a client knows the events of its user, and the events of the daily window, which concern everyone. It is the id of an
/// event.
package struct EventPosition: Sendable, Hashable, CustomStringConvertible {
  /// The number of the last event of the user; 0: none.
  package var number: Int64
  /// Twice the number of the last window, plus one once it has closed; 0: none.
  package var window: Int64

  package init(number: Int64, window: Int64) {
    self.number = number
    self.window = window
  }

  /// Reads what `description` writes; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ 1...18 ~= $0.utf8.count && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
      let number = Int64(parts[0]), let window = Int64(parts[1])
    else { return nil }
    self.init(number: number, window: window)
  }

  package var description: String { "\(number)-\(window)" }
}

/// The opening or the closing of a daily window.
package struct WindowChange: Sendable, Hashable {
  /// As in `EventPosition`.
  package let position: Int64
  package let openedAt: Date
  package let closesAt: Date

  package init(position: Int64, openedAt: Date, closesAt: Date) {
    self.position = position
    self.openedAt = openedAt
    self.closesAt = closesAt
  }

  package var isOpening: Bool { position.isMultiple(of: 2) }
}
