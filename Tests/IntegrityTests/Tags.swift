import Testing

extension Tag {
  /// Runs against the test run's private PostgreSQL.
  @Tag static var database: Self
}
