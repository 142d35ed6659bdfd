#if PTHREAD_LOCKS
  import Glibc
#else
  import Synchronization
#endif

/// A value behind a mutex.
///
/// `Synchronization.Mutex` gives false positives under the thread sanitizer; building with `-Xswiftc -DPTHREAD_LOCKS`
/// swaps in a pthread mutex, which the sanitizer understands.
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
  #if PTHREAD_LOCKS
    // Both behind pointers: to the sanitizer, changing a stored property in place is an access to its entire object.
    private final class Storage: @unchecked Sendable {
      let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

      init(_ initial: consuming sending Value) {
        value.initialize(to: initial)
        pthread_mutex_init(mutex, nil)
      }

      deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
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
      return try body(&storage.value.pointee)
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
