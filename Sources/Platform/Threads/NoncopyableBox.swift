/// An instance of a class that holds a noncopyable value, for collections, which cannot hold noncopyable values.
package final class NoncopyableBox<Value: ~Copyable>: Sendable {
  private let value: Locked<Value?>

  package init(_ value: consuming sending Value) { self.value = Locked(consume value) }

  /// Returns the value, the first time that it is called.
  package func take() -> sending Value? { value.withLock { $0.take() } }
}
