/// What a server tells about itself; both are called from its own threads and must not block.
package struct ServerObserver: Sendable {
  /// A request has ended.
  package var onAccess: @Sendable (AccessRecord) -> Void
  /// A handler threw something that is no answer; the client got 500.
  package var onFailure: @Sendable (any Error, Request) -> Void

  package init(
    onAccess: @escaping @Sendable (AccessRecord) -> Void = { _ in },
    onFailure: @escaping @Sendable (any Error, Request) -> Void = { _, _ in }
  ) {
    self.onAccess = onAccess
    self.onFailure = onFailure
  }
}
