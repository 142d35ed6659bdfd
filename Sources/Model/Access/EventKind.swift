extension UserEvent {
  /// What this version of the service stores. A newer version may have stored other kinds, so that `UserEvent.kind` is a text.
  package enum Kind: String, Sendable, CaseIterable {
    /// Something of the user's post can be seen before its media are ready.
    case postPreviewed = "post_previewed"
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
    /// A post of a friend is ready.
    case friendPosted = "friend_posted"
    /// Another user commented on a post, and the user is one of the last who had.
    case threadComment = "thread_comment"
    /// Another user shared a collection with the user, or commented on a collection of the user's or one that is shared with the user.
    case collectionShared = "collection_shared"
    case collectionComment = "collection_comment"
    /// Another user accepted or declined to be a member of the user's collection.
    case invitationAccepted = "invitation_accepted"
    case invitationDeclined = "invitation_declined"
    /// A case waits for a decision. It concerns the moderators.
    case caseOpened = "case_opened"
    /// The daily window has opened, the operator says something to all users, and a webhook was disabled. They concern no user.
    case windowOpened = "window_opened"
    case message
    case webhookDisabled = "webhook_disabled"
    /// The app's back-end is to send the user a code by mail.
    case verificationRequested = "account_verification_requested"
    case passwordResetRequested = "password_reset_requested"
    /// The back-end may write to the user by mail, at the address that the user had before: who has found out a password changes the address.
    case sessionStarted = "session_started"
    case passwordChanged = "password_changed"
    case emailChanged = "email_changed"
  }
}

/// By what the service reports a kind of event: the one table of all kinds. The texts of notifications are in `jobs/notifications.json`.
package struct EventKind: Sendable, Hashable {
  /// The name of the field that has the `subject` of an event; nil: it has none.
  package let subject: String?
  /// Whether streams have it: the receiver's, and the stream of all users.
  package let isStreamed: Bool
  /// Whether one may report several acts, whose number is its `count`.
  package let isCounted: Bool
  /// What a device shows; nil: nothing.
  package let push: Push?

  package struct Push: Sendable, Hashable {
    /// The time after which it is not sent, in seconds.
    package let lifetime: Int
    /// Whether it wakes a device that sleeps.
    package let isUrgent: Bool
    /// Whether notifications about one post or collection that had to wait become one.
    package let isFolded: Bool
    /// Whether it is of no use later.
    package let isTimeSensitive: Bool
  }

  private init(_ subject: String? = nil, isStreamed: Bool = true, isCounted: Bool = false, push: Push? = nil) {
    self.subject = subject
    self.isStreamed = isStreamed
    self.isCounted = isCounted
    self.push = push
  }

  private static func push(
    hours: Int = 24, isUrgent: Bool = false, isFolded: Bool = false, isTimeSensitive: Bool = false
  ) -> Push {
    Push(lifetime: hours * 3600, isUrgent: isUrgent, isFolded: isFolded, isTimeSensitive: isTimeSensitive)
  }

  package init(_ kind: UserEvent.Kind) {
    self =
      switch kind {
      case .postReady: EventKind(push: Self.push(isUrgent: true))
      case .postRejected: EventKind(push: Self.push(isUrgent: true))
      case .postPreviewed, .postFailed, .postHeld, .postHidden: EventKind()
      case .comment: EventKind("comment", push: Self.push(isUrgent: true, isFolded: true))
      case .threadComment, .collectionComment: EventKind("comment", isCounted: true, push: Self.push(isFolded: true))
      case .reaction: EventKind("image", push: Self.push(isFolded: true))
      case .like: EventKind(push: Self.push(isFolded: true))
      case .friendRequest: EventKind(push: Self.push(hours: 72))
      case .friendAccepted: EventKind(push: Self.push())
      case .friendPosted: EventKind(push: Self.push(isUrgent: true))
      case .collectionShared: EventKind("collection", push: Self.push())
      // Without notifications: an app's file of texts must have a text for each kind with notifications.
      case .invitationAccepted, .invitationDeclined: EventKind("collection")
      case .caseOpened: EventKind("case")
      // It expires with the window.
      case .windowOpened: EventKind(push: Self.push(isUrgent: true, isTimeSensitive: true))
      case .message: EventKind(isStreamed: false, push: Self.push(hours: 24))
      case .webhookDisabled: EventKind("webhook")
      case .verificationRequested, .passwordResetRequested, .sessionStarted, .passwordChanged, .emailChanged:
        EventKind(isStreamed: false)
      }
  }

  /// The kind with a name; nil if this version does not know it.
  package init?(_ name: String) {
    guard let kind = UserEvent.Kind(rawValue: name) else { return nil }
    self.init(kind)
  }
}

extension UserEvent.Kind {
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
