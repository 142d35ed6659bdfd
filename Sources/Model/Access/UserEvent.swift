package import FoundationEssentials

/// Something that concerns a user.
package struct UserEvent: Sendable, Hashable {
  /// What this version of the service stores. A newer version may have stored other kinds, so that `kind` is a text.
  package enum Kind: String, Sendable, CaseIterable {
    /// The media of the user's post are ready, rejected, or could not be processed.
    case postReady = "post_ready"
    case postRejected = "post_rejected"
    case postFailed = "post_failed"
    /// The user's post waits for the decision of a moderator, or a moderator has hidden it.
    case postHeld = "post_held"
    case postHidden = "post_hidden"
    /// Another user commented on the user's post, reacted to it, or likes it.
    case comment
    case reaction
    case like
    /// Another user asks for the user's friendship, or has accepted it.
    case friendRequest = "friend_request"
    case friendAccepted = "friend_accepted"
    /// A case waits for a decision. It concerns the moderators.
    case caseOpened = "case_opened"

    /// What the author of a post learns of its status; nil: nothing.
    package init?(_ status: PostStatus) {
      switch status {
      case .processing: return nil
      case .ready: self = .postReady
      case .rejected: self = .postRejected
      case .failed: self = .postFailed
      case .held: self = .postHeld
      case .hidden: self = .postHidden
      }
    }
  }

  /// The kind of an event that says nothing any more; no client receives it.
  package static let blank = "forgotten"

  /// The position among the events of the user: 1, 2, and so on.
  package let number: Int64
  package let kind: String
  /// The user who caused it; nil: the service did.
  package let actor: String?
  package let post: PublicID?
  /// The comment, the image or the case that it is about.
  package let subject: PublicID?
  package let createdAt: Date

  package init(
    number: Int64, kind: String, actor: String?, post: PublicID?, subject: PublicID?, createdAt: Date
  ) {
    self.number = number
    self.kind = kind
    self.actor = actor
    self.post = post
    self.subject = subject
    self.createdAt = createdAt
  }
}

/// How far a client knows the events of its user, and those of the daily window, which concern everyone. It is the id of an
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
