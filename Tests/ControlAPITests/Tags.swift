import Testing

extension Tag {
  /// Needs the run's private PostgreSQL.
  @Tag static var database: Self
  /// Talks to a real server over real sockets.
  @Tag static var network: Self
}
