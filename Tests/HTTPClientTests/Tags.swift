import Testing

extension Tag {
  /// Talks over sockets of this machine.
  @Tag static var network: Self
}
