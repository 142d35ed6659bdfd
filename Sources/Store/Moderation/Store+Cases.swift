import FoundationEssentials
package import Model
package import Postgres
import Queue

/// The cases that moderators decide. Each function that changes something runs in a transaction of the caller's.
extension Store {
  /// The receiver of the events of moderators. It is the id of no user.
  package static let moderators = ""

  /// The result of a decision.
  package enum Decided: Sendable, Hashable {
    case decided(ModerationCase)
    case notFound
    /// The case has another decision.
    case otherwise(ModerationCase)
    /// Such a subject cannot be decided so.
    case unfit(ModerationSubject)
  }

  /// Reads a case; nil if there is none.
  package func moderationCase(_ id: PublicID, _ session: Session) throws -> ModerationCase? {
    try session.execute(Self.statements["case"], .text(id.description)).first.map(ModerationCase.init)
  }

  /// Reads a page of cases, the newest first.
  package func moderationCases(
    _ state: ModerationCase.State, _ page: PageRequest, _ session: Session
  ) throws -> Page<ModerationCase> {
    let statement =
      switch state {
      case .open: Self.statements["open_cases"]
      case .decided: Self.statements["decided_cases"]
      }
    return try Page(session.execute(statement, page.parameters), page) { try $0.map(ModerationCase.init) }
  }

  /// Opens a case about a subject for a moderator, or returns the open one; nil if there is no such subject.
  package func openCase(
    about subject: ModerationSubject, _ session: Session
  ) throws -> (opened: ModerationCase, isNew: Bool)? {
    guard try lock(subject, for: .unrestricted, session) != nil else { return nil }
    let found = try openCase(about: subject, cause: .moderator, session)
    guard let opened = try moderationCase(found.id, session) else { return nil }
    return (opened, found.isNew)
  }

  /// Decides a case: hides or shows its subject, or suspends a user or ends the suspension. The same decision again changes nothing.
  ///
  /// - Parameters:
  ///   - by: the name of the credential that decides; nil: a service without keys.
  ///   - note: why; for other moderators.
  package func decide(
    _ id: PublicID, _ decision: ModerationDecision, by: String?, note: String?, _ session: Session
  ) throws -> Decided {
    // The subject is locked before the case.
    guard let found = try moderationCase(id, session) else { return .notFound }
    guard decision.concerns(found.subject) else { return .unfit(found.subject) }
    guard let locked = try lock(found.subject, for: .unrestricted, session),
      try !session.execute(Self.statements["lock_case"], .text(id.description)).isEmpty,
      let current = try moderationCase(id, session)
    else { return .notFound }
    if let outcome = current.outcome { return outcome.decision == decision ? .decided(current) : .otherwise(current) }
    try session.execute(
      Self.statements["decide_case"], .text(id.description), .text(decision.rawValue), .text(by), .text(note))
    switch locked {
    case .post(let post): try moderate(post, decision == .approve ? nil : .hide, session)
    case .comment(let comment): try setHidden(comment, decision == .hide, session)
    case .place(let place): try session.execute(Self.statements["hide_place"], .text(place), .bool(decision == .hide))
    case .image(let image): try setHidden(image: image, decision == .hide, session)
    case .collection(let number):
      try session.execute(Self.statements["hide_collection"], .integer(number), .bool(decision == .hide))
    case .user(let user):
      let statement = decision == .suspend ? Self.statements["suspend"] : Self.statements["reinstate"]
      try session.execute(statement, .text(user))
    }
    return try moderationCase(id, session).map(Decided.decided) ?? .notFound
  }

  /// How a post is kept from all but its author.
  enum Moderation: String {
    case hold
    case hide
  }

  /// Holds, hides or shows a locked post, and notifies its author. URLs of its media that were given out before become invalid if
  /// others no longer see it.
  func moderate(_ post: PublicID, _ moderation: Moderation?, _ session: Session) throws {
    let before = try self.post(post, for: .unrestricted, session)?.status
    let row = try session.execute(
      Self.statements["moderate_post"], .text(post.description), .text(moderation?.rawValue)
    ).single()
    let status: PostStatus = try row.enumValue("status")
    guard status != before else { return }
    if before == .ready { try renameMedia(ofPost: row.get("id"), session) }
    try notify(row.get("author"), of: status, post, session)
  }

  /// Notifies the author of a post of what became of its media, and the moderators if they have to decide.
  func notify(_ author: String, of status: PostStatus, _ post: PublicID, _ session: Session) throws {
    if status == .held, let opened = try openCase(of: .post(post), session) {
      try announce(case: opened, session)
    }
    guard let kind = UserEvent.Kind(status) else { return }
    try notify(author, of: kind, by: nil, post: post, session)
  }

  /// Notifies the moderators of a case.
  func announce(case id: PublicID, _ session: Session) throws(PostgresError) {
    try notify(Self.moderators, of: .caseOpened, by: nil, subject: id, session)
  }

  /// Opens a case about a locked subject, or finds the open one.
  func openCase(
    about subject: ModerationSubject, cause: ModerationCase.Cause, _ session: Session
  ) throws -> (id: PublicID, isNew: Bool) {
    if let opened = try openCase(of: subject, session) { return (opened, false) }
    let id = PublicID.now()
    try session.execute(
      Self.statements["insert_case"], [.text(id.description)] + subject.parameters + [.text(cause.rawValue)])
    return (id, true)
  }

  private func openCase(of subject: ModerationSubject, _ session: Session) throws -> PublicID? {
    try session.execute(Self.statements["open_case_of"], subject.parameters).first?.publicID("public_id")
  }

  /// Hides or shows a comment of a locked post, place or collection.
  private func setHidden(_ comment: Comment, _ isHidden: Bool, _ session: Session) throws {
    let changed = try session.execute(Self.statements["hide_comment"], .text(comment.id.description), .bool(isHidden))
    if changed.affected > 0 { try count(isHidden ? -1 : 1, on: comment.subject, session) }
  }

  /// Hides or shows a locked image. The count of the reactions to a post, which is locked, follows.
  private func setHidden(image: PublicID, _ isHidden: Bool, _ session: Session) throws {
    let changed = try session.execute(Self.statements["hide_image"], .text(image.description), .bool(isHidden))
    guard let row = changed.first, try row.enumValue("kind") == ImageKind.reaction,
      try row.enumValue("status") == ImageStatus.ready
    else { return }
    try session.execute(Self.statements["count_reactions"], .text(image.description), .integer(isHidden ? -1 : 1))
  }

  /// What was locked for a report or a decision.
  enum LockedSubject {
    case post(PublicID)
    case comment(Comment)
    case user(String)
    case place(String)
    case image(PublicID)
    /// The number of its row.
    case collection(Int64)
  }

  /// Locks a subject, or what a comment is on; nil if the viewer does not see it.
  func lock(_ subject: ModerationSubject, for viewer: Viewer, _ session: Session) throws -> LockedSubject? {
    switch subject {
    case .post(let id):
      let locked = try session.execute(Self.statements["lock_target_post"], .text(id.description), viewer.parameter)
      return locked.isEmpty ? nil : .post(id)
    case .comment(let id):
      let read = { try session.execute(Self.statements["any_comment"], .text(id.description), viewer.parameter).first }
      guard let seen = try read().map(Self.comment), try lock(seen.subject, for: viewer, session) != nil,
        // It may have been deleted in the meantime.
        let locked = try read().map(Self.comment)
      else { return nil }
      return .comment(locked)
    case .user(let id):
      try requireUsers(id, allowingSuspended: true, in: session)
      try session.execute(Self.statements["add_author"], .text(id))
      return try session.execute(Self.statements["seen_user"], .text(id), viewer.parameter).isEmpty ? nil : .user(id)
    case .place(let id):
      let locked = try session.execute(Self.statements["lock_known_place"], .text(id), viewer.parameter)
      return locked.isEmpty ? nil : .place(id)
    case .image(let id):
      guard let seen = try image(id, for: viewer, session) else { return nil }
      if seen.draft.kind == .reaction {
        let post = try session.execute(
          Self.statements["lock_target_post"], .text(seen.draft.owner), viewer.parameter)
        guard !post.isEmpty else { return nil }
      }
      return try session.execute(Self.statements["lock_image"], .text(id.description)).isEmpty ? nil : .image(id)
    case .collection(let id):
      return try lock(collection: id, for: viewer, session).map { .collection($0.number) }
    }
  }
}

extension ModerationSubject {
  /// The parameters of a post, a comment, a user, a place, an image and a collection, of which one has a value.
  fileprivate var parameters: [Parameter] {
    var all = [Parameter](repeating: .text(nil), count: 6)
    switch self {
    case .post(let id): all[0] = .text(id.description)
    case .comment(let id): all[1] = .text(id.description)
    case .user(let id): all[2] = .text(id)
    case .place(let id): all[3] = .text(id)
    case .image(let id): all[4] = .text(id.description)
    case .collection(let id): all[5] = .text(id.description)
    }
    return all
  }
}

extension ModerationCase {
  fileprivate init(_ row: Row) throws {
    let subject = try ModerationSubject(row)
    var commentSubject: CommentSubject?
    if case .comment = subject {
      commentSubject =
        if let place = try row.get("commented_place", as: String?.self) {
          .place(place)
        } else if try row.get("commented_collection", as: String?.self) != nil {
          .collection(try row.publicID("commented_collection"))
        } else {
          .post(try row.publicID("commented_post"))
        }
    }
    var outcome: Outcome?
    if let decided = try row.get("decided_at", as: Int64?.self) {
      outcome = Outcome(
        decision: try row.enumValue("decision"), by: try row.get("decided_by"), note: try row.get("note"),
        at: Date(microseconds: decided))
    }
    self.init(
      id: try row.publicID("public_id"), subject: subject, commentSubject: commentSubject,
      author: try row.get("author"), cause: try row.enumValue("cause"),
      createdAt: Date(microseconds: try row.get("created_at")), reports: try row.get("reports"), outcome: outcome)
  }
}
