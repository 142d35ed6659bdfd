/// An instance of a class that holds a noncopyable value, for collections, which cannot hold noncopyable values.
package final class NoncopyableBox<Value: ~Copyable> {
  private var value: Value?

  package init(_ value: consuming Value) { self.value = consume value }

  /// Returns the value, the first time that it is called.
  package func take() -> Value? { value.take() }
}
