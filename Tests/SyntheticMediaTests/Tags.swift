import Testing

extension Tag {
  /// Tests that encode or decode real media.
  @Tag static var media: Self
}
