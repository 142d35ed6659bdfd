import Glibc

/// A queue of bounded length between two threads: whoever is ahead waits for the other.
///
/// Elements have one owner at a time, which is what makes handing them over safe.
package final class Channel<Element: ~Copyable & Sendable>: @unchecked Sendable {
  // Everything below is guarded by the mutex.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let elements: UnsafeMutablePointer<Element>
  private let capacity: Int
  private var head = 0
  private var count = 0
  private var isClosed = false

  /// - Parameter capacity: the most elements that wait in it, at least one.
  package init(capacity: Int) {
    precondition(capacity > 0, "a channel holds at least one element")
    self.capacity = capacity
    elements = .allocate(capacity: capacity)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    for index in 0..<count { (elements + (head + index) % capacity).deinitialize(count: 1) }
    elements.deallocate()
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Gives it an element, and waits for room first; false, and the element is gone, if it is closed.
  package func put(_ element: consuming Element) -> Bool {
    lock()
    defer { unlock() }
    while count == capacity && !isClosed { pthread_cond_wait(changed, mutex) }
    guard !isClosed else { return false }
    (elements + (head + count) % capacity).initialize(to: element)
    count += 1
    pthread_cond_signal(changed)
    return true
  }

  /// Takes the oldest element, and waits for one first; nil if it is closed.
  package func take() -> Element? {
    lock()
    defer { unlock() }
    while count == 0 && !isClosed { pthread_cond_wait(changed, mutex) }
    return removeFirst()
  }

  /// Takes the oldest element, if there is one now.
  package func takeIfReady() -> Element? {
    lock()
    defer { unlock() }
    return removeFirst()
  }

  /// Ends it: nobody waits any longer, and what waits in it is given up.
  package func close() {
    lock()
    isClosed = true
    pthread_cond_broadcast(changed)
    unlock()
  }

  private func removeFirst() -> Element? {
    guard count > 0 && !isClosed else { return nil }
    let element = (elements + head).move()
    head = (head + 1) % capacity
    count -= 1
    pthread_cond_signal(changed)
    return element
  }

  private func lock() { pthread_mutex_lock(mutex) }
  private func unlock() { pthread_mutex_unlock(mutex) }
}
