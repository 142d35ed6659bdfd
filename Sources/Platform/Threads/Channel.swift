import Glibc

/// A bounded queue between two threads: `put` waits while it is full, `take` while it is empty.
///
/// Elements have one owner at a time, which makes the transfer safe.
package final class Channel<Element: ~Copyable & Sendable>: @unchecked Sendable {
  // The mutex guards everything below.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let elements: UnsafeMutablePointer<Element>
  private let capacity: Int
  private var head = 0
  private var count = 0
  private var isClosed = false

  /// - Parameter capacity: the maximum number of elements, at least 1.
  package init(capacity: Int) {
    precondition(capacity > 0, "the capacity of a channel is at least 1")
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

  /// Appends an element and waits for space first; if the channel is closed, destroys the element and returns false.
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

  /// Removes the oldest element and waits for one first; nil if the channel is closed.
  package func take() -> Element? {
    lock()
    defer { unlock() }
    while count == 0 && !isClosed { pthread_cond_wait(changed, mutex) }
    return removeFirst()
  }

  /// Removes the oldest element; nil if there is none now.
  package func takeIfReady() -> Element? {
    lock()
    defer { unlock() }
    return removeFirst()
  }

  /// Closes the channel: all waits return, and remaining elements are dropped.
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
