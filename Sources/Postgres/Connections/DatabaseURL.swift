internal import CPostgres
import Glibc

/// Where a database is and how to get in: a `postgresql://` URL or libpq's keyword form (libpq, "Connection Strings").
///
/// What it does not say, libpq takes from its environment (`PGHOST`, `PGPASSFILE`, ...).
package struct DatabaseURL: Sendable, Hashable {
  private var settings: [String: String]
  // The way past a pooler, if that was said.
  private var direct: [String: String]?
  /// For how long it lends a connection to the server; not part of the connection string.
  package var pooling = Pooling.session
  /// How long a transaction may stand idle before the server ends it, connection and all: its client may be frozen, or
  /// out of reach without the server's knowing, and what it has locked is locked for everybody.
  package private(set) var idleTransactionLimit: Duration = .seconds(30)

  /// How long a statement may take before the server ends it; nil: as long as it likes.
  package private(set) var statementLimit: Duration?

  /// Parses a connection string; the error does not repeat it, since it may hold a password.
  package init(_ text: String) throws(PostgresError) {
    var message: UnsafeMutablePointer<CChar>?
    let parsed = PQconninfoParse(text, &message)
    PQfreemem(message)
    guard let options = parsed else {
      throw PostgresError(
        .usage, "the database URL cannot be read",
        remedy: "Write it as postgresql://user:password@host:5432/database, special characters percent-encoded")
    }
    defer { PQconninfoFree(options) }
    settings = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
  }

  /// The folder of a socket, a role and a database, as the embedded server is reached.
  package init(socketFolder: String, user: String, database: String) {
    settings = ["host": socketFolder, "user": user, "dbname": database]
  }

  private init(settings: [String: String]) { self.settings = settings }

  /// The same server and role, another database.
  package func with(database: String) -> DatabaseURL {
    var copy = self
    copy.settings["dbname"] = database
    copy.direct?["dbname"] = database
    return copy
  }

  /// Where notifications are heard; nil: nowhere.
  package var listening: DatabaseURL? {
    if let direct { return DatabaseURL(settings: direct) }
    return pooling == .session ? self : nil
  }

  /// Names a way to the same database past a pooler, for hearing notifications.
  package mutating func listen(past direct: DatabaseURL) { self.direct = direct.settings }

  /// The same database, with another limit for idle transactions.
  package func with(idleTransactionLimit: Duration) -> DatabaseURL {
    var copy = self
    copy.idleTransactionLimit = idleTransactionLimit
    return copy
  }

  /// The same database, with another limit for statements.
  package func with(statementLimit: Duration?) -> DatabaseURL {
    var copy = self
    copy.statementLimit = statementLimit
    return copy
  }

  /// The name of the database, if given.
  package var database: String? { settings["dbname"] }

  /// In libpq's keyword form, with the password: for files and variables that only their owner reads.
  package var connectionString: String { text(of: settings) }

  /// As libpq's own variables (`PGHOST`, ...), with the password: for programs that are started.
  package var environment: [String: String] {
    let names = [
      "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD",
      "passfile": "PGPASSFILE", "dbname": "PGDATABASE", "service": "PGSERVICE", "options": "PGOPTIONS",
      "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY",
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

  /// Keywords and values for `PQconnectdbParams`: a lost peer must be noticed, and a slow one must not hang a start.
  private var keywordsAndValues: [(String, String)] {
    let defaults = [
      "application_name": "take5", "client_encoding": "UTF8", "connect_timeout": "5", "keepalives_idle": "10",
      "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
    ]
    return defaults.merging(settings) { _, chosen in chosen }.map { ($0.key, $0.value) }
  }

  func withKeywordsAndValues<Result>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let settings = keywordsAndValues
    let keywords = settings.map { UnsafePointer(strdup($0.0)) } + [nil]
    let values = settings.map { UnsafePointer(strdup($0.1)) } + [nil]
    defer { for pointer in keywords + values { free(UnsafeMutablePointer(mutating: pointer)) } }
    return body(keywords, values)
  }

  /// Asks whether a server is there, and waits for its answer; see `Pool.isAnswered`.
  func isAnswered() -> Bool {
    let answer = withKeywordsAndValues { keywords, values in PQpingParams(keywords, values, 0) }
    return answer == PQPING_OK || answer == PQPING_REJECT
  }
}

extension DatabaseURL: CustomStringConvertible {
  /// Without secrets, fit for a log.
  package var description: String {
    text(of: settings.filter { !$0.key.contains("password") })
  }
}

extension Duration {
  var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
}
