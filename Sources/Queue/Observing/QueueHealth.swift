import Postgres

/// The causes and the numbers of dead rows in the queue's tables.
package struct QueueHealth: Sendable, Hashable {
  package let holders: [HorizonHolder]
  package let tables: [TableRows]

  package init(holders: [HorizonHolder], tables: [TableRows]) {
    self.holders = holders
    self.tables = tables
  }
}

/// The numbers of rows of a table, as `pg_stat_user_tables` estimates them.
package struct TableRows: Sendable, Hashable {
  package let table: String
  package let live: Int
  /// Rows that VACUUM has not removed yet.
  package let dead: Int

  package init(table: String, live: Int, dead: Int) {
    self.table = table
    self.live = live
    self.dead = dead
  }
}

/// Something that holds back the xmin horizon, so that VACUUM cannot remove dead rows.
package struct HorizonHolder: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A session with an open transaction; the name is the process id of its backend.
    case session
    /// A prepared transaction; the name is its global identifier.
    case prepared
    /// A replication slot.
    case slot
    /// A standby with `hot_standby_feedback`.
    case standby
  }

  package let kind: Kind
  package let name: String
  /// The `application_name` of a session; empty if there is none.
  package let application: String
  /// Such as `idle in transaction` or `active`.
  package let state: String
  /// The age of the transaction; nil for slots and standbys.
  package let seconds: Double?
  /// The age of its xmin, in transactions.
  package let transactions: Int

  package init(
    kind: Kind, name: String, application: String = "", state: String = "", seconds: Double?, transactions: Int
  ) {
    self.kind = kind
    self.name = name
    self.application = application
    self.state = state
    self.seconds = seconds
    self.transactions = transactions
  }

  init(_ row: Row) throws(PostgresError) {
    let text = try row.get("holder", as: String.self)
    guard let kind = Kind(rawValue: text) else { throw PostgresError(.decoding, "unknown holder kind '\(text)'") }
    self.init(
      kind: kind, name: try row.get("name"), application: try row.get("application"), state: try row.get("state"),
      seconds: try row.get("seconds"), transactions: try row.get("transactions", as: Int?.self) ?? 0)
  }
}
