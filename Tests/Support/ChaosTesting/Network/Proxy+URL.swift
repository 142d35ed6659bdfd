package import Postgres

extension Proxy {
  /// How a client reaches a database through it; the name is what the server calls the client's connections.
  package func url(database: String, name: String) throws(PostgresError) -> DatabaseURL {
    try DatabaseURL(
      "host=127.0.0.1 port=\(port) user=take5 dbname=\(database) application_name=\(name) sslmode=disable"
        + " gssencmode=disable")
  }
}
