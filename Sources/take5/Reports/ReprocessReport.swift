import FoundationEssentials
import Model
import Postgres
import Store

/// A reprocessing run in the output of `take5 reprocess`.
struct ReprocessReport: Encodable {
  /// An item with the error of its last attempt.
  struct Failure: Encodable {
    let id: PublicID
    let error: String

    init(_ item: (subject: Subject, error: String)) {
      id = item.subject.id
      error = item.error
    }

    /// The line for an item that has another attempt.
    var retry: String { "\(id) waits for another attempt: \(error)" }
  }

  let id: PublicID
  let state: ReprocessRun.State
  let items: ReprocessCounts
  let total: Int
  let createdAt: Date
  let endedAt: Date?
  private(set) var failures: [Failure]?
  /// Items whose last attempt failed and that have another one.
  private(set) var retried: [Failure]?

  init(_ run: ReprocessRun, _ counts: ReprocessCounts) {
    id = run.id
    state = run.state
    items = counts
    total = counts.total
    createdAt = run.createdAt
    endedAt = run.endedAt
  }

  /// The run with its failures and its items with further attempts, up to a number of both.
  init(_ run: ReprocessRun, limit: Int, _ session: Session) throws {
    self.init(run, try Reprocessing.counts(of: run, session))
    failures = try Reprocessing.failures(of: run, limit: limit, session).map(Failure.init)
    retried = try Reprocessing.retriedItems(of: run, limit: limit, session).map(Failure.init)
  }

  /// The non-zero counts of items, by outcome, as one line of text.
  static func text(_ counts: ReprocessCounts) -> String {
    let parts = [
      (counts.done, "done"), (counts.skipped, "skipped as up to date"), (counts.failed, "failed"),
      (counts.cancelled, "cancelled"), (counts.started, "started"), (counts.waiting, "waiting"),
    ]
    let text = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return text.isEmpty ? "no items" : text
  }

  /// The run as one line of text.
  var line: String {
    "\(id)  \(state.rawValue)  \(JSON.text(of: createdAt))  \(Self.text(items))"
  }

  /// The run with its failures and its items with further attempts.
  var text: String {
    let lines = [line] + (failures ?? []).map { "  \($0.id): \($0.error)" } + (retried ?? []).map { "  \($0.retry)" }
    return lines.joined(separator: "\n")
  }
}

/// The items that a run would process, as `take5 reprocess --dry-run` prints them.
struct ReprocessPlan: Encodable {
  /// The items of one kind whose outputs were made with one definition, and would be made with one.
  struct Part: Encodable {
    let kind: SubjectKind
    /// The name and version of the definition, such as `take5-post 1`; nil if there are no outputs.
    let madeBy: String?
    let madeAgainBy: String
    /// Whether the definition is unchanged; then most items are skipped.
    let same: Bool
    /// What the new definition has changed; nil if it is the same, or there are no outputs.
    let changes: [Change]?
    let items: Int

    /// The greatest number of changes that are printed.
    private static let maxChanges = 10

    init(_ group: ReprocessGroup) throws {
      (kind, madeBy, madeAgainBy) = (group.kind, group.madeBy, group.madeAgainBy)
      (same, items) = (group.isSame, group.subjects)
      changes =
        try group.isSame
        ? nil
        : group.madeBody.map { body in
          try JSONTree(parsing: body).changes(to: JSONTree(parsing: group.definition.body)).map {
            Change(path: $0.path, before: $0.before, after: $0.after)
          }
        }
    }

    /// The lines about the part: its items, and what has changed.
    fileprivate var lines: [String] {
      let head = "\(items) of kind \(kind.rawValue): "
      if same { return [head + "same definition: only items whose libraries or files have changed are reprocessed"] }
      guard let madeBy else { return [head + "no outputs → \(madeAgainBy)"] }
      let changes = changes ?? []
      let hint =
        madeBy == madeAgainBy
        ? ": its contents differ, and its version does not; give it a higher version to tell them apart" : ""
      var lines = [head + "\(madeBy) → \(madeAgainBy)\(hint)"]
      for change in changes.prefix(Self.maxChanges) {
        lines.append("  \(change.path): \(change.before ?? "-") → \(change.after ?? "-")")
      }
      if changes.count > Self.maxChanges { lines.append("  and \(changes.count - Self.maxChanges) more") }
      return lines
    }
  }

  /// A value of a definition that differs in another one.
  struct Change: Encodable {
    let path: String
    /// As JSON; nil: the key is absent.
    let before: String?
    let after: String?
  }

  let items: Int
  let withoutSources: Int
  /// The estimated processor time in hours, from the duration of earlier jobs; nil if there were none.
  let hours: Double?
  let parts: [Part]

  init(_ groups: [ReprocessGroup], withoutSources: Int) throws {
    parts = try groups.map { try Part($0) }
    items = groups.subjects
    self.withoutSources = withoutSources
    hours = groups.processorSeconds.map { $0 / 3600 }
  }

  /// The plan as lines of text.
  var lines: [String] {
    var lines = parts.flatMap(\.lines)
    if withoutSources > 0 { lines.append("skipped: \(withoutSources) whose sources were not stored") }
    if let hours { lines.append("about \(Self.text(hours)) of processor time, estimated from earlier jobs") }
    return lines
  }

  private static func text(_ hours: Double) -> String {
    let minutes = hours * 60
    if minutes < 1 { return CountText.text(Int((minutes * 60).rounded(.up)), "second") }
    if hours < 1 { return CountText.text(Int(minutes.rounded(.up)), "minute") }
    return "\((hours * 10).rounded() / 10) hours"
  }
}
