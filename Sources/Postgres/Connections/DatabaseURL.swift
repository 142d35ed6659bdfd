internal import CPostgres
import Glibc
import Platform

/// The address of a database: a `postgresql://` URL or a keyword/value string (libpq, "Connection Strings").
///
/// libpq takes missing settings from its environment variables (`PGHOST`, `PGPASSFILE`, ...).
package struct DatabaseURL: Sendable, Hashable {
  private var settings: [String: String]
  // The settings of a connection that bypasses the pooler.
  private var direct: [String: String]?
  /// The mode of the pooler at this address; not part of the connection string.
  package var pooling = Pooling.session
  /// The `idle_in_transaction_session_timeout`: a client that is frozen or unreachable must not hold its locks for
  /// long.
  package private(set) var idleTransactionLimit: Duration = .seconds(30)

  /// The `statement_timeout`; nil: the server's default.
  package private(set) var statementLimit: Duration?

  /// The `lock_timeout` of what only reads; nil: the server's default. A reader waits for a lock only where a table is changed as a
  /// whole, and then for long.
  package private(set) var readLockLimit: Duration?

  /// The `lock_timeout` of what a client has asked for (`PoolClient`) and does not only read; nil: the server's default. Requests that wait
  /// for one row may not hold all connections for as long as another transaction has locked it.
  package private(set) var requestLockLimit: Duration?

  /// The `statement_timeout` of reads; nil: the one of every statement. A client that waits for longer has given up.
  package private(set) var readLimit: Duration?

  // No other function of libpq is called before there is an address.
  private static let isLibraryLoaded: Void = SharedLibraries.open("libpq.so.5")

  /// Parses a connection string; the error does not repeat it, since it may contain a password.
  package init(_ text: String) throws(PostgresError) {
    Self.isLibraryLoaded
    var message: UnsafeMutablePointer<CChar>?
    let parsed = PQconninfoParse(text, &message)
    PQfreemem(message)
    guard let options = parsed else {
      throw PostgresError(
        .usage, "the database URL is invalid",
        remedy: "Use the form postgresql://user:password@host:5432/database, with special characters percent-encoded")
    }
    defer { PQconninfoFree(options) }
    settings = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
  }

  /// The address of a server that listens on a Unix socket, such as the embedded one.
  package init(socketFolder: String, user: String, database: String) {
    Self.isLibraryLoaded
    settings = ["host": socketFolder, "user": user, "dbname": database]
  }

  private init(settings: [String: String]) { self.settings = settings }

  /// The same server and role with another database.
  package func with(database: String) -> DatabaseURL {
    var copy = self
    copy.settings["dbname"] = database
    copy.direct?["dbname"] = database
    return copy
  }

  /// The address at which LISTEN works; nil if the pooler does not support it and cannot be bypassed.
  package var listenerURL: DatabaseURL? {
    if let direct { return DatabaseURL(settings: direct) }
    return pooling == .session ? self : nil
  }

  /// Sets an address of the same database that bypasses the pooler, for LISTEN.
  package mutating func setListenerURL(_ direct: DatabaseURL) { self.direct = direct.settings }

  /// The same address with another `idle_in_transaction_session_timeout`.
  package func with(idleTransactionLimit: Duration) -> DatabaseURL {
    var copy = self
    copy.idleTransactionLimit = idleTransactionLimit
    return copy
  }

  /// The same address with another `statement_timeout`.
  package func with(statementLimit: Duration?) -> DatabaseURL {
    var copy = self
    copy.statementLimit = statementLimit
    return copy
  }

  /// The same address with another `lock_timeout` of what only reads.
  package func with(readLockLimit: Duration?) -> DatabaseURL {
    var copy = self
    copy.readLockLimit = readLockLimit
    return copy
  }

  /// The same address with another `lock_timeout` of what a client has asked for and does not only read.
  package func with(requestLockLimit: Duration?) -> DatabaseURL {
    var copy = self
    copy.requestLockLimit = requestLockLimit
    return copy
  }

  /// The same address with another `statement_timeout` of what only reads.
  package func with(readLimit: Duration?) -> DatabaseURL {
    var copy = self
    copy.readLimit = readLimit
    return copy
  }

  /// The name of the database, if it is set.
  package var database: String? { settings["dbname"] }

  /// The keyword/value string, with the password: only for files that other users cannot read.
  package var connectionString: String { text(of: settings) }

  /// libpq's environment variables (`PGHOST`, ...), with the password: for child processes.
  package var environment: [String: String] {
    let names = [
      "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD",
      "passfile": "PGPASSFILE", "dbname": "PGDATABASE", "service": "PGSERVICE", "options": "PGOPTIONS",
      "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY",
      "target_session_attrs": "PGTARGETSESSIONATTRS",
    ]
    return settings.reduce(into: [:]) { environment, setting in
      if let name = names[setting.key] { environment[name] = setting.value }
    }
  }

  private func text(of settings: [String: String]) -> String {
    settings.sorted { $0.key < $1.key }.map { key, value in
      var quoted = ""
      for character in value {
        if character == "'" || character == "\\" { quoted.append("\\") }
        quoted.append(character)
      }
      return "\(key)='\(quoted)'"
    }.joined(separator: " ")
  }

  /// Keywords and values for `PQconnectdbParams`, with timeouts by which a lost or unreachable server is detected.
  private var keywordsAndValues: [(String, String)] {
    var defaults = [
      "application_name": "take5", "client_encoding": "UTF8", "connect_timeout": "5", "keepalives_idle": "10",
      "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
    ]
    // Of several servers one accepts writes, which another may do after a failover.
    if ["host", "hostaddr"].contains(where: { settings[$0]?.contains(",") == true }) {
      defaults["target_session_attrs"] = "read-write"
    }
    return defaults.merging(settings) { _, chosen in chosen }.map { ($0.key, $0.value) }
  }

  /// Calls `body` with NULL-terminated arrays of keywords and values.
  func withKeywordsAndValues<Result>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let settings = keywordsAndValues
    let keywords = settings.map { UnsafePointer(strdup($0.0)) } + [nil]
    let values = settings.map { UnsafePointer(strdup($0.1)) } + [nil]
    defer { for pointer in keywords + values { free(UnsafeMutablePointer(mutating: pointer)) } }
    return body(keywords, values)
  }

  /// Whether a server replies at this address, even if it refuses connections (`PQping`); blocks.
  func isReachable() -> Bool {
    let reply = withKeywordsAndValues { keywords, values in PQpingParams(keywords, values, 0) }
    return reply == PQPING_OK || reply == PQPING_REJECT
  }
}

extension DatabaseURL: CustomStringConvertible {
  /// The settings without passwords, for logs.
  package var description: String {
    text(of: settings.filter { !$0.key.contains("password") })
  }
}

extension Duration {
  var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
}

/// The pooling mode at a database's address: for how long a client has a server connection.
package enum Pooling: String, Sendable, CaseIterable {
  /// As long as the client connection is open: PostgreSQL itself, or a pooler in session mode.
  case session
  /// For one transaction: the next transaction may get another server connection, without the prepared statements and
  /// LISTEN registrations of the session.
  case transaction
}
