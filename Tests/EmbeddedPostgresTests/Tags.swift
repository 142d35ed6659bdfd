import Testing

extension Tag {
  /// Needs PostgreSQL's server programs.
  @Tag static var database: Self
  /// Starts and kills processes.
  @Tag static var process: Self
}
