internal import CPostgres

/// Where a database is and how to get in: a `postgresql://` URL or libpq's keyword form (libpq, "Connection Strings").
///
/// What it does not say, libpq takes from its environment (`PGHOST`, `PGPASSFILE`, ...).
package struct DatabaseURL: Sendable, Hashable {
  private var settings: [String: String]

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

  /// The same server and role, another database.
  package func with(database: String) -> DatabaseURL {
    var copy = self
    copy.settings["dbname"] = database
    return copy
  }

  /// The name of the database, if given.
  package var database: String? { settings["dbname"] }

  /// In libpq's keyword form, with the password: for files and variables that only their owner reads.
  package var connectionString: String { text(of: settings) }

  /// As libpq's own variables (`PGHOST`, ...), with the password: for programs that are started.
  package var environment: [String: String] {
    let names = [
      "host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE",
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
  var keywordsAndValues: [(String, String)] {
    let defaults = [
      "application_name": "take5", "client_encoding": "UTF8", "connect_timeout": "5", "keepalives_idle": "10",
      "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
    ]
    return defaults.merging(settings) { _, chosen in chosen }.map { ($0.key, $0.value) }
  }
}

extension DatabaseURL: CustomStringConvertible {
  /// Without secrets, fit for a log.
  package var description: String {
    text(of: settings.filter { !$0.key.contains("password") })
  }
}
