internal import CMicrohttpd

/// A connection that libmicrohttpd leaves alone until it is resumed, exactly once, from any thread.
struct SuspendedConnection: @unchecked Sendable {
  private let pointer: OpaquePointer

  /// Suspends; only from within the request callback or the content reader of that connection.
  init(suspending pointer: OpaquePointer) {
    MHD_suspend_connection(pointer)
    self.pointer = pointer
  }

  /// Lets libmicrohttpd serve the connection again.
  func resume() { MHD_resume_connection(pointer) }
}
