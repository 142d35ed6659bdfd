import Testing

extension Tag {
  /// Decodes or encodes media.
  @Tag static var media: Tag
}
