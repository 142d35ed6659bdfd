import CRoomsSQL
import FoundationEssentials
internal import Kit
package import Model
package import Platform
package import Postgres
import Queue
package import Store

/// The cases that moderators decide. Each function that changes something runs in a transaction of the caller's.
package enum Moderation: CredentialObserver {
  package static let statements = Statements(
    topic: "moderation", Store.fragments, RoomsSQL.Moderation, fragments: RecordKind.fragments)

  package static let schema: [EmbeddedText] = [RoomsSQL.Moderation_schema]

  package static var exports: [Export] {
    [Export("reports", statements["reports_by_user"]) { ReportResponse(try Report($0)) }]
  }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        mention: "EXISTS (SELECT FROM report WHERE author = $1)", statements["drop_reports_of_user"],
        statements["drop_cases_of_user"]),
      ForgettingStep(atEnd: statements["drop_suspension"]),
    ]
  }

  /// The API keys that have decided cases.
  package static func named(keys: [Int64], _ session: Session) throws -> [Int64] {
    try session.execute(statements["deciding_keys"], .integers(keys)).map { try $0.get("id") }
  }

  /// Notifies the moderators of a post that is held.
  package static func note(_ status: PostStatus, of post: PublicID, _ session: Session) throws {
    if status == .held, let opened = try openCase(of: .post(post), session) {
      try announce(case: opened, session)
    }
  }

  /// The receiver of the events of moderators. It is the id of no user.
  package static let moderators = ""

  /// The result of a decision.
  package enum Decided: Sendable, Hashable {
    case decided(ModerationCase)
    case notFound
    /// The case has another decision.
    case otherwise(ModerationCase)
    /// Such a subject cannot be decided so.
    case unfit(RecordID)
  }

  /// Reads a case; nil if there is none.
  package static func find(_ id: PublicID, _ session: Session) throws -> ModerationCase? {
    try session.execute(Self.statements["case"], .text(id.description)).first.map(ModerationCase.init)
  }

  /// Reads a page of cases, the newest first.
  package static func list(
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
  package static func openCase(
    about subject: RecordID, _ session: Session
  ) throws -> (opened: ModerationCase, isNew: Bool)? {
    guard try subject.lock(for: .unrestricted, session) != nil else { return nil }
    let found = try openCase(about: subject, cause: .moderator, session)
    guard let opened = try find(found.id, session) else { return nil }
    return (opened, found.isNew)
  }

  /// Decides a case: hides or shows its subject, or suspends a user or ends the suspension. The same decision again changes nothing.
  ///
  /// - Parameters:
  ///   - by: the name of the credential that decides; nil: a service without keys.
  ///   - note: why; for other moderators.
  package static func decide(
    _ id: PublicID, _ decision: ModerationDecision, by: String?, note: String?, _ session: Session
  ) throws -> Decided {
    // The subject is locked before the case.
    guard let found = try find(id, session) else { return .notFound }
    guard decision.concerns(found.subject) else { return .unfit(found.subject) }
    guard let locked = try found.subject.lock(for: .unrestricted, session),
      try !session.execute(Self.statements["lock_case"], .text(id.description)).isEmpty,
      let current = try find(id, session)
    else { return .notFound }
    if let outcome = current.outcome { return outcome.decision == decision ? .decided(current) : .otherwise(current) }
    try session.execute(
      Self.statements["decide_case"], .text(id.description), .text(decision.rawValue), .text(by), .text(note))
    let subject = found.subject
    if let setHidden = subject.kind.record.setHidden {
      try setHidden(subject, locked, decision == .hide, session)
    } else {
      let statement = decision == .suspend ? Self.statements["suspend"] : Self.statements["reinstate"]
      try session.execute(statement, .text(subject.id))
      if decision == .suspend { try [any Room.Type].all.report(suspended: subject.id, session) }
    }
    return try find(id, session).map(Decided.decided) ?? .notFound
  }

  /// Notifies the moderators of a case.
  static func announce(case id: PublicID, _ session: Session) throws(PostgresError) {
    try Store.notify(Self.moderators, of: .caseOpened, by: nil, subject: id, session)
  }

  /// Opens a case about a locked subject, or finds the open one.
  static func openCase(
    about subject: RecordID, cause: ModerationCase.Cause, _ session: Session
  ) throws -> (id: PublicID, isNew: Bool) {
    if let opened = try openCase(of: subject, session) { return (opened, false) }
    let id = PublicID.now()
    try session.execute(
      subject.kind.record.fill(Self.statements["insert_case"]), .text(subject.id), .text(id.description),
      .text(cause.rawValue))
    return (id, true)
  }

  private static func openCase(of subject: RecordID, _ session: Session) throws -> PublicID? {
    try session.execute(subject.kind.record.fill(Self.statements["open_case_of"]), .text(subject.id)).first?
      .publicID("public_id")
  }
}

extension ModerationCase {
  fileprivate init(_ row: Row) throws {
    var outcome: Outcome?
    if let decided = try row.get("decided_at", as: Int64?.self) {
      outcome = Outcome(
        decision: try row.enumValue("decision"), by: try row.get("decided_by"), note: try row.get("note"),
        at: Date(microseconds: decided))
    }
    self.init(
      id: try row.publicID("public_id"), subject: try RecordID(row),
      commentSubject: try Comments.subject(row, "commented_"), author: try row.get("author"),
      cause: try row.enumValue("cause"), createdAt: Date(microseconds: try row.get("created_at")),
      reports: try row.get("reports"), outcome: outcome)
  }
}
