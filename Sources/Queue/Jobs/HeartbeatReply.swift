/// What a worker hears when it gives a sign of life.
package struct HeartbeatReply: Sendable, Hashable {
  /// Jobs whose lease is no longer this worker's, by token.
  package var lost: Set<Int64> = []
  /// Jobs that are to be cancelled, by token.
  package var cancelled: Set<Int64> = []
  /// Whether the worker itself was taken for dead: it holds nothing any more.
  package var isEvicted = false

  package init() {}
}
