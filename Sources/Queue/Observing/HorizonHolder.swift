import Postgres

/// Something that keeps the server from removing dead rows: an open transaction, or a slot.
package struct HorizonHolder: Sendable, Hashable {
  /// What it is.
  package enum Kind: String, Sendable, CaseIterable {
    /// A session with an open transaction; its name is the process id of its backend.
    case session
    /// A prepared transaction; its name is its global identifier.
    case prepared
    /// A replication slot.
    case slot
    /// A standby that says what its queries need.
    case standby
  }

  package let kind: Kind
  package let name: String
  /// What a session calls itself; empty where nothing does.
  package let application: String
  /// `idle in transaction`, `active`...
  package let state: String
  /// For how long; nil of what has no beginning in time.
  package let seconds: Double?
  /// For how many transactions.
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
    let word = try row.get("holder", as: String.self)
    guard let kind = Kind(rawValue: word) else { throw PostgresError(.decoding, "there is no holder \(word)") }
    self.init(
      kind: kind, name: try row.get("name"), application: try row.get("application"), state: try row.get("state"),
      seconds: try row.get("seconds"), transactions: try row.get("transactions", as: Int?.self) ?? 0)
  }
}
