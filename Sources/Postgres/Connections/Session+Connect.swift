import Glibc

extension Session {
  /// Connects on the calling thread, again and again with growing pauses while the server is away or just starting.
  ///
  /// - Parameter timeout: how long to go on; a server that refuses for another reason is believed at once.
  package static func connect(
    _ url: DatabaseURL, timeout: Duration
  ) throws(PostgresError) -> Session {
    let limit = ContinuousClock.now + timeout
    var pause = 10_000 as UInt32
    while true {
      do {
        return try Session(url)
      } catch {
        guard error.mayPass, ContinuousClock.now + .microseconds(Int64(pause)) < limit else { throw error }
        // The thread is the connection's own: nobody else waits for it.
        usleep(pause)
        pause = min(pause * 2, 250_000)
      }
    }
  }
}

extension PostgresError {
  /// Whether a refused connection may succeed later. libpq gives no SQLSTATE for one, only text.
  fileprivate var mayPass: Bool {
    let lasting = [
      "password", "does not exist", "no pg_hba.conf entry", "not permitted", "invalid",
      // What pgbouncer says of names that it does not know and of settings that it cannot keep apart.
      "no such database", "no such user", "unsupported startup parameter",
    ]
    return isUnavailable && (message.contains("No such file") || !lasting.contains { message.contains($0) })
  }
}
