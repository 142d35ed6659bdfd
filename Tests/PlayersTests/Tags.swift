import Testing

extension Tag {
  /// Starts programs and decodes media.
  @Tag static var players: Tag
}
