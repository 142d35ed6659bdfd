package import FoundationEssentials
package import Model
import Postgres
import Queue

/// A run over stored media, as it stands in the database.
package struct ReprocessRun: Sendable, Hashable {
  /// Where a run stands.
  package enum State: String, Codable, Sendable, CaseIterable {
    case running, paused, cancelled, completed

    /// Whether nothing more will begin by itself.
    package var isOver: Bool { self == .cancelled || self == .completed }
  }

  let number: Int64
  package let id: PublicID
  package let state: State
  /// What was asked for, as JSON.
  package let selection: String
  package let keepsOld: Bool
  package let isLocal: Bool
  package let priority: Int
  package let rate: Double?
  package let createdAt: Date
  package let endedAt: Date?

  init(_ row: Row) throws {
    number = try row.get("id")
    id = try row.publicID("public_id")
    state = try PostDraft.word(row, "state")
    selection = try row.get("selection")
    keepsOld = try row.get("keeps_old")
    isLocal = try row.get("is_local")
    priority = try row.get("priority")
    rate = try row.get("rate")
    createdAt = Date(microseconds: try row.get("created_at"))
    endedAt = try row.get("ended_at", as: Int64?.self).map { Date(microseconds: $0) }
  }
}
