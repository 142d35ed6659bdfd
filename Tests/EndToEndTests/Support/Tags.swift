import Testing

extension Tag {
  /// Starts real processes and a PostgreSQL of its own.
  @Tag static var process: Self
}
