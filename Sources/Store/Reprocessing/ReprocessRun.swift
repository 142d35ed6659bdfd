package import FoundationEssentials
package import Model
import Postgres
import Queue

/// A run over stored media, as it is in the database.
package struct ReprocessRun: Sendable, Hashable {
  package typealias State = RunState

  let number: Int64
  package let id: PublicID
  package let state: State
  /// The requested selection, as JSON.
  package let selection: String
  package let keepsOld: Bool
  package let isForced: Bool
  package let priority: Int
  package let rate: Double?
  package let createdAt: Date
  package let endedAt: Date?

  init(_ row: Row) throws {
    number = try row.get("id")
    id = try row.publicID("public_id")
    state = try row.enumValue("state")
    selection = try row.get("selection")
    keepsOld = try row.get("keeps_old")
    isForced = try row.get("is_forced")
    priority = try row.get("priority")
    rate = try row.get("rate")
    createdAt = Date(microseconds: try row.get("created_at"))
    endedAt = try row.get("ended_at", as: Int64?.self).map { Date(microseconds: $0) }
  }
}

extension ReprocessRun {
  /// The requested selection; nil if a later version has written it in another form.
  package var record: ReprocessSelection.Record? {
    do { return try JSON.decode(ReprocessSelection.Record.self, from: Array(selection.utf8)) } catch { return nil }
  }
}

/// The numbers of a run's items, by state.
package struct ReprocessCounts: Sendable, Hashable, Codable {
  /// Items that have not started.
  package var waiting = 0
  /// Items with a job that is in the queue or executing.
  package var started = 0
  /// Items with new outputs.
  package var done = 0
  /// Items that already had the outputs of the definition.
  package var skipped = 0
  /// Items that failed; their old outputs stay.
  package var failed = 0
  package var cancelled = 0
  /// The total time that media processes spent on the items with an outcome.
  package var seconds = 0.0

  package init() {}

  private enum CodingKeys: String, CodingKey {
    case waiting
    case started = "begun"
    case done, skipped, failed, cancelled, seconds
  }

  package var total: Int { waiting + started + ended }
  /// Items with an outcome.
  package var ended: Int { done + skipped + failed + cancelled }
}

/// The subjects of a selection that have the same kind, and the same definitions of their current and their next outputs.
package struct ReprocessGroup: Sendable, Hashable {
  package let kind: SubjectKind
  /// The definition of the run for them.
  package let definition: StoredDefinition
  /// The name of the definition of the current outputs; nil if there are none.
  package let madeName: String?
  package let madeVersion: Int?
  /// The JSON of that definition.
  package let madeBody: [UInt8]?
  /// Whether the run would use the same definition.
  package let isSame: Bool
  package let subjects: Int
  /// The mean duration of a sample of their jobs; nil if the history has none of these.
  package let seconds: Double?

  /// The name and version of the definition of the current outputs, such as `take5-post 1`; nil if there are none.
  package var madeBy: String? { madeName.map { "\($0) \(madeVersion ?? 0)" } }

  /// The same of the definition of the run.
  package var madeAgainBy: String { "\(definition.name) \(definition.version)" }
}

extension [ReprocessGroup] {
  /// The number of all subjects.
  package var subjects: Int { reduce(0) { $0 + $1.subjects } }

  /// The processor time that the run would take, in seconds, from the duration of earlier jobs; nil if there were none.
  package var processorSeconds: Double? {
    let counted = filter { $0.seconds != nil && !$0.isSame }
    return counted.isEmpty ? nil : counted.reduce(0) { $0 + Double($1.subjects) * ($1.seconds ?? 0) }
  }
}
