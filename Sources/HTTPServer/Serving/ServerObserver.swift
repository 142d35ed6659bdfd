package import Platform

/// What a server tells about itself; everything is called from its own threads and must not block.
package struct ServerObserver: Sendable {
  /// A request has ended.
  package var onAccess: @Sendable (AccessRecord) -> Void
  /// A handler threw something that is no answer; the client got 500.
  package var onFailure: @Sendable (any Error, Request) -> Void
  /// A connection, a request or a stream was turned away because there are too many.
  package var onRefusal: @Sendable (Refusal, IPAddress) -> Void

  package init(
    onAccess: @escaping @Sendable (AccessRecord) -> Void = { _ in },
    onFailure: @escaping @Sendable (any Error, Request) -> Void = { _, _ in },
    onRefusal: @escaping @Sendable (Refusal, IPAddress) -> Void = { _, _ in }
  ) {
    self.onAccess = onAccess
    self.onFailure = onFailure
    self.onRefusal = onRefusal
  }
}
