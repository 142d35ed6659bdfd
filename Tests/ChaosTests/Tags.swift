import Testing

extension Tag {
  /// Starts real processes and a PostgreSQL of its own, and breaks them.
  @Tag static var chaos: Self
}
