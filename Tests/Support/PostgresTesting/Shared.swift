import Platform

/// A value that the tasks of a test share; a class, since closures that escape cannot hold a lock itself.
package final class Shared<Value>: Sendable {
  private let locked: Locked<Value>

  package init(_ value: sending Value) { locked = Locked(value) }

  /// Runs `body` while no other task is inside.
  package func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    locked.withLock(body)
  }
}
