import Synchronization

/// A flag that one thread raises and another reads between two steps of blocking work.
package final class CancellationFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  package init() {}

  /// Whether the work should stop.
  package var isCancelled: Bool { raised.load(ordering: .acquiring) }

  /// Asks the work to stop; it cannot be taken back.
  package func cancel() { raised.store(true, ordering: .releasing) }
}
