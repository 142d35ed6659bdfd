import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// What users report. A report opens a case about its subject, unless one is open.
extension Moderation {
  /// Stores what a user reports; nil if the viewer sees no such subject.
  ///
  /// The report of a user who has reported the subject since its case was opened is the first one: it changes nothing.
  ///
  /// - Returns: the report, and whether it is new.
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  package static func report(
    _ subject: RecordID, for viewer: Viewer, author: String, reason: String, text: String?,
    _ session: Session
  ) throws -> (report: Report, isNew: Bool)? {
    try Store.requireUsers(author, in: session)
    guard try subject.lock(for: viewer, session) != nil else { return nil }
    let opened = try openCase(about: subject, cause: .report, session)
    let inserted = try session.execute(
      Self.statements["insert_report"], .text(PublicID.now().description), .text(opened.id.description), .text(author),
      .text(reason), .text(text))
    let row = try session.execute(
      Self.statements["report_by"], .text(opened.id.description), .text(author)
    ).single()
    if opened.isNew { try announce(case: opened.id, session) }
    return (try Report(row), inserted.affected > 0)
  }

  /// Reads a report of the viewer's; nil if there is none.
  package static func findReport(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> Report? {
    try session.execute(Self.statements["report"], .text(id.description), viewer.parameter).first.map(Report.init)
  }

  /// Reads the first reports of a case.
  package static func reports(of id: PublicID, limit: Int, _ session: Session) throws -> [Report] {
    try session.execute(
      Self.statements["reports_of_case"], .text(id.description), .integer(limit)
    ).map(Report.init)
  }
}

extension Report {
  init(_ row: Row) throws {
    self.init(
      id: try row.publicID("public_id"), subject: try RecordID(row), author: try row.get("author"),
      reason: try row.get("reason"), text: try row.get("text"),
      createdAt: Date(microseconds: try row.get("created_at")),
      decidedAt: try row.get("decided_at", as: Int64?.self).map(Date.init(microseconds:)))
  }
}

extension RecordID {
  /// Reads the columns `{subject_ids}`, of which one has a value.
  init(_ row: Row) throws {
    for kind in Kind.all {
      let id = try row.get(kind.isNamed ? kind.name + "_id" : kind.name, as: String?.self)
      guard let record = id.flatMap({ RecordID(kind, $0) }) else { continue }
      self = record
      return
    }
    throw PostgresError(.decoding, "a case is about nothing")
  }
}
