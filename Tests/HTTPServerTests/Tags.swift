import Testing

extension Tag {
  /// Talks to a real server over real sockets.
  @Tag static var network: Self
}
