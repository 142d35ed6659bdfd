/// For how long whoever answers at a database's address lends a connection to the server.
package enum Pooling: String, Sendable, CaseIterable {
  /// For as long as ours stands: PostgreSQL itself does, and so does a pooler in session mode.
  case session
  /// For one transaction at a time: what a session keeps beyond it, a prepared statement or LISTEN, stays with the
  /// server's connection, which the next transaction may not get.
  case transaction
}
