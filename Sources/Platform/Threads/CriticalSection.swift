import Glibc

/// A part of a thread's work that others wait for, such as an open transaction of the database, which holds locks, or all that a thread of
/// request handlers does: the thread waits for no disk and no network in it.
///
/// A call that may wait says so. That it happens in a critical section is a fault of this program: it is reported, and the call goes on.
package enum CriticalSection {
  private static let report = Locked<(@Sendable (String) -> Void)?>(nil)

  /// Runs `body` in a critical section of the calling thread, in which others may be nested.
  package static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let outer = pthread_getspecific(depthKey)
    pthread_setspecific(depthKey, UnsafeRawPointer(bitPattern: Int(bitPattern: outer) + 1))
    defer { pthread_setspecific(depthKey, outer) }
    return try body()
  }

  /// Whether the calling thread is in a critical section.
  package static var isEntered: Bool { pthread_getspecific(depthKey) != nil }

  /// Says that the calling thread may wait for a disk or a network now.
  ///
  /// - Parameter call: what it is about to do.
  package static func mayWait(_ call: @autoclosure () -> String) {
    guard isEntered, let report = report.withLock(\.self) else { return }
    report(call())
  }

  /// Sets what receives the calls that may wait in a critical section, of all threads.
  package static func reportWaits(to report: @escaping @Sendable (String) -> Void) {
    Self.report.withLock { $0 = report }
  }
}

// The number of critical sections that the thread is in.
private let depthKey: pthread_key_t = {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  return key
}()
