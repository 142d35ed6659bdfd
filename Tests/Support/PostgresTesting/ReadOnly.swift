package import Postgres

/// Lets the server refuse writes in a test's database, as around a failover, or take them again. Who is connected is cut off
/// when it begins, and stays on what he has when it ends.
package func setReadOnly(_ isReadOnly: Bool, _ database: DatabaseURL) throws {
  let session = try Session.connect(database, timeout: .seconds(5))
  // Of this session alone, so that it may end what it began.
  try session.executeScript("SET default_transaction_read_only = off", name: "SET")
  let name = database.database ?? ""
  guard isReadOnly else {
    return try session.executeScript(
      "ALTER DATABASE \(name) RESET default_transaction_read_only", name: "ALTER DATABASE")
  }
  try session.executeScript("ALTER DATABASE \(name) SET default_transaction_read_only = on", name: "ALTER DATABASE")
  try session.execute(
    """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
    """)
}
