import Testing

extension Tag {
  /// Needs the private PostgreSQL.
  @Tag static var database: Self
}
