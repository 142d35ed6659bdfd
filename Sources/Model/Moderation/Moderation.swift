package import FoundationEssentials

/// Whether posts of a definition are shown before a moderator has decided about them.
package enum ModerationRule: String, NamedCases, Sendable {
  /// They are shown as soon as their media are ready.
  case none
  /// They are held until a decision.
  case hold
}

/// What a moderator decides. The raw values are part of the API and do not change.
package enum ModerationDecision: String, Codable, Sendable, CaseIterable {
  /// The subject may be seen, or the user may act: it releases what is held, and restores what was hidden or suspended.
  case approve
  /// Only the author sees the subject, and a place no user.
  case hide
  /// The service refuses every request that acts as the user.
  case suspend

  /// Whether it is a decision about such a subject.
  package func concerns(_ subject: RecordID) -> Bool {
    switch self {
    case .approve: true
    case .hide: subject.kind != .user
    case .suspend: subject.kind == .user
    }
  }
}

/// A question to moderators: at most one is open about a subject at a time.
package struct ModerationCase: Sendable, Hashable {
  /// Why it was opened.
  package enum Cause: String, Codable, Sendable {
    /// A definition holds the post.
    case held
    /// A user has reported the subject.
    case report
    /// A moderator has opened it.
    case moderator
  }

  package enum State: String, Codable, Sendable, CaseIterable {
    case open
    case decided
  }

  /// What a moderator has decided.
  package struct Outcome: Sendable, Hashable {
    package let decision: ModerationDecision
    /// The number of the API key, or another name of a credential; nil: a service without keys.
    package let by: String?
    package let note: String?
    package let at: Date

    package init(decision: ModerationDecision, by: String?, note: String?, at: Date) {
      self.decision = decision
      self.by = by
      self.note = note
      self.at = at
    }
  }

  package let id: PublicID
  package let subject: RecordID
  /// What a comment is on; nil for other subjects.
  package let commentSubject: RecordID?
  /// The user whose post, comment, image or collection it is, who has described the place first, or who is the subject; nil: there is
  /// no such user.
  package let author: String?
  package let cause: Cause
  package let createdAt: Date
  /// The number of reports.
  package let reports: Int
  /// Nil: it is open.
  package let outcome: Outcome?

  package init(
    id: PublicID, subject: RecordID, commentSubject: RecordID?, author: String?, cause: Cause,
    createdAt: Date, reports: Int, outcome: Outcome?
  ) {
    self.id = id
    self.subject = subject
    self.commentSubject = commentSubject
    self.author = author
    self.cause = cause
    self.createdAt = createdAt
    self.reports = reports
    self.outcome = outcome
  }
}

/// What a user has reported.
package struct Report: Sendable, Hashable {
  package let id: PublicID
  package let subject: RecordID
  /// The user who reports.
  package let author: String
  /// A word of the app, such as `spam`.
  package let reason: String
  package let text: String?
  package let createdAt: Date
  /// When a moderator has decided about the subject; nil: not yet.
  package let decidedAt: Date?

  package init(
    id: PublicID, subject: RecordID, author: String, reason: String, text: String?, createdAt: Date,
    decidedAt: Date?
  ) {
    self.id = id
    self.subject = subject
    self.author = author
    self.reason = reason
    self.text = text
    self.createdAt = createdAt
    self.decidedAt = decidedAt
  }
}
