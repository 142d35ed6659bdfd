/// The right to be told of a job; to be given back.
struct JobSubscription: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) { self.end = end }

  /// Ends it; nothing is told afterwards, except what is being told at this moment.
  func cancel() { end() }
}
