import CStoreSQL
import Crypto
import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Runs over stored media: their creation, their state and their control.
package enum Reprocessing {
  static let statements = Statements(topic: "reprocessing", StoreSQL.Reprocessing)

  /// The channel on which the worker that schedules learns that a run is running.
  package static let channel = "take5_runs"

  /// The time for which a run stays stored after its end, in seconds, with the outcomes of its items.
  private static let retention = 90.0 * 24 * 3600

  /// Deletes up to 1000 items of runs that ended some time ago, and such runs without items; returns the number of both.
  package static func dropOld(_ session: Session) throws(PostgresError) -> Int {
    let items = try session.execute(Self.statements["drop_old_items"], .double(Self.retention)).affected
    return items + (try session.execute(Self.statements["drop_old_runs"], .double(Self.retention)).affected)
  }

  /// Has the run scheduled after the commit of the open transaction.
  static func wake(_ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(Store.statements["notify_user"], .text(channel), .text(""))
  }

  /// Returns the age of the oldest running run, in seconds, and the number of items of all that wait for their turn, up to 100,000.
  package static func running(_ session: Session) throws(PostgresError) -> (seconds: Double, items: Int) {
    let row = try session.execute(Self.statements["running"]).single()
    return (try row.get("seconds"), try row.get("items"))
  }

  /// Summarizes the subjects of a request, by kind and by the definitions of the current and the next outputs.
  package static func summarize(_ request: ReprocessRequest, _ session: Session) throws -> [ReprocessGroup] {
    let definitions = Dictionary(
      request.definitions.values.joined().map { ($0.hash.bytes, $0) }, uniquingKeysWith: { first, _ in first })
    return try session.execute(
      Self.statements["summarize"], Self.parameters(of: request, hasSources: true)
    ).compactMap { row in
      guard let definition = definitions[try row.get("definition", as: [UInt8].self)] else { return nil }
      return ReprocessGroup(
        kind: try row.enumValue("kind"), definition: definition, madeName: try row.get("made_name"),
        madeVersion: try row.get("made_version"),
        madeBody: try row.get("made_body", as: String?.self).map { Array($0.utf8) }, isSame: try row.get("is_same"),
        subjects: try row.get("subjects"),
        seconds: try row.get("seconds"))
    }
  }

  /// Counts the selected subjects that cannot be reprocessed because their sources were not kept.
  package static func countWithoutSources(_ request: ReprocessRequest, _ session: Session) throws -> Int {
    try session.execute(
      Self.statements["summarize"], Self.parameters(of: request, hasSources: false)
    ).reduce(0) { try $0 + $1.get("subjects", as: Int.self) }
  }

  /// Creates a run with an item for each subject that is selected now, in the caller's transaction; nil if there are
  /// none.
  package static func create(_ request: ReprocessRequest, _ session: Session) throws -> PublicID? {
    for definition in Set(request.definitions.values.joined()) { try Store.insert(definition, session) }
    let id = PublicID.now()
    let number: Int64 = try session.execute(
      Self.statements["insert_run"], .text(id.description),
      .text(String(decoding: try request.selection.record, as: UTF8.self)), .bool(request.keepsOld),
      .bool(request.isForced), .integer(request.priority), .double(request.rate)
    ).single().get("id")
    let items = try session.execute(
      Self.statements["insert_items"], Self.parameters(of: request, hasSources: true) + [.integer(number)])
    guard !items.isEmpty else {
      try session.execute(Self.statements["drop_run"], .integer(number))
      return nil
    }
    try wake(session)
    return id
  }

  /// Reads the latest runs, the newest first.
  ///
  /// - Parameter before: the last run of the page before; nil: the first page.
  package static func list(
    limit: Int, before: PublicID? = nil, _ session: Session
  ) throws -> [ReprocessRun] {
    try session.execute(Self.statements["runs"], .integer(limit), .text(before?.description)).map {
      try ReprocessRun($0)
    }
  }

  /// Reads a run; nil if it does not exist.
  package static func find(_ id: PublicID, _ session: Session) throws -> ReprocessRun? {
    try session.execute(Self.statements["run"], .text(id.description)).first.map { try ReprocessRun($0) }
  }

  /// Reads a run as it stays until the end of the transaction; nil if it does not exist.
  package static func findLocked(_ id: PublicID, _ session: Session) throws -> ReprocessRun? {
    guard let run = try find(id, session) else { return nil }
    try session.execute(Self.statements["lock_run"], .integer(run.number))
    return try find(id, session)
  }

  /// Counts the items of a run by state.
  package static func counts(of run: ReprocessRun, _ session: Session) throws -> ReprocessCounts {
    var counts = ReprocessCounts()
    for row in try session.execute(Self.statements["count_items"], .integer(run.number)) {
      let items: Int = try row.get("items")
      counts.seconds += try row.get("seconds", as: Double?.self) ?? 0
      switch try row.get("state", as: String.self) {
      case "waiting": counts.waiting = items
      case "started": counts.started = items
      case "done": counts.done = items
      case "skipped": counts.skipped = items
      case "failed": counts.failed = items
      default: counts.cancelled = items
      }
    }
    return counts
  }

  /// Reads items that failed, with the reasons.
  package static func failures(
    of run: ReprocessRun, limit: Int, _ session: Session
  ) throws -> [(subject: Subject, error: String)] {
    try items(Self.statements["failures"], of: run, limit, session)
  }

  /// Reads items whose last attempt failed and that have another one, with the errors.
  ///
  /// A run does not end before they do. What no worker can read is attempted for a day.
  package static func retriedItems(
    of run: ReprocessRun, limit: Int, _ session: Session
  ) throws -> [(subject: Subject, error: String)] {
    try items(Self.statements["retried_items"], of: run, limit, session)
  }

  private static func items(
    _ statement: Statement, of run: ReprocessRun, _ limit: Int, _ session: Session
  ) throws -> [(subject: Subject, error: String)] {
    try session.execute(statement, .integer(run.number), .integer(limit)).map { row in
      (try Self.subject(row), try row.get("error", as: String?.self) ?? "")
    }
  }

  static func subject(_ row: Row) throws -> Subject {
    let id = try row.publicID("subject")
    return try row.get("subject_kind", as: String.self) == "post" ? .post(id) : .image(id)
  }

  private static func parameters(of request: ReprocessRequest, hasSources: Bool) -> [Parameter] {
    let selection = request.selection
    let wanted = request.definitions.filter { selection.kinds.isEmpty || selection.kinds.contains($0.key) }
      .sorted { $0.key.rawValue < $1.key.rawValue }
      .flatMap { kind, definitions in definitions.map { (kind: kind, definition: $0) } }
    func time(_ date: Date?) -> Parameter {
      .timestamp(microseconds: date.map(\.microseconds))
    }
    return [
      .texts(wanted.map(\.kind.rawValue)), .byteStrings(wanted.map(\.definition.hash.bytes)),
      .texts(wanted.map { $0.definition.isForClips ? "true" : "false" }), .bool(hasSources),
      .texts(selection.statuses.map(\.rawValue).sorted()), .text(selection.definition),
      .integer(selection.versionBelow.map(Int64.init)), time(selection.createdAfter), time(selection.createdBefore),
      (selection.authors ?? selection.author.map { [$0] }).map { .texts($0) } ?? .null,
      selection.ids.map { .texts($0.map(\.description)) } ?? .null,
      .text(selection.missing?.rawValue), .text(selection.error), .integer(selection.limit.map(Int64.init)),
      .text(selection.reason?.rawValue),
    ]
  }
}
