#if PTHREAD_LOCKS
  import Glibc
#else
  import Synchronization
#endif

/// A value that one thread at a time may touch.
///
/// `Synchronization.Mutex` gives false positives under the thread sanitizer; building with `-Xswiftc -DPTHREAD_LOCKS`
/// swaps in a pthread mutex, which the sanitizer understands.
package struct Locked<Value>: ~Copyable, Sendable {
  #if PTHREAD_LOCKS
    private final class Storage: @unchecked Sendable {
      var value: Value
      let mutex: UnsafeMutablePointer<pthread_mutex_t>

      init(_ value: consuming sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
      }

      deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
      }
    }

    private let storage: Storage

    package init(_ value: consuming sending Value) { storage = Storage(value) }

    /// Runs `body` while no other thread is inside.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(storage.mutex)
      defer { pthread_mutex_unlock(storage.mutex) }
      return try body(&storage.value)
    }
  #else
    private let mutex: Mutex<Value>

    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` while no other thread is inside.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }
  #endif
}
