import Testing

extension Tag {
  /// Needs the run's private PostgreSQL.
  @Tag static var database: Self
}
