import Testing

extension Tag {
  /// Reads real phone media, where a folder of them is at hand.
  @Tag static var fieldMedia: Self
}
