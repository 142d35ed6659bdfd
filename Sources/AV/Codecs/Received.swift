/// What a codec answers when asked for its next output.
package enum Received: Hashable, Sendable {
  /// Here it is.
  case output
  /// It needs more input first.
  case needsInput
  /// There is no more.
  case ended
}
