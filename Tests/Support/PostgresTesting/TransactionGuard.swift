import Platform
import Testing

/// Makes tests fail that wait for a disk or a network while a transaction of the database is open, or on a thread of request handlers: all that open a database or start a
/// process of take5.
enum TransactionGuard {
  static func begin() { _ = guarding }

  private static let guarding: Void = CriticalSection.reportWaits { call in
    Issue.record("a transaction of the database, or a thread of request handlers, waits for the storage: \(call)")
  }
}
