internal import CSystem
import Glibc
import Synchronization

/// A dedicated thread for blocking work, so that no blocking call occupies a thread of Swift's cooperative pool.
package struct NamedThread: ~Copyable, @unchecked Sendable {
  private let handle: pthread_t

  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a thread.
  ///
  /// - Parameters:
  ///   - name: the name in `ps -L` and debuggers, at most 15 bytes.
  ///   - stackBytes: the size of the stack.
  ///   - body: the work; the thread ends when it returns.
  package init(
    name: String, stackBytes: Int = 1 << 20, body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackBytes)
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var handle = pthread_t()
    let status = pthread_create(&handle, &attributes, runThread, start.toOpaque())
    guard status == 0 else {
      start.release()
      throw SystemError(call: "pthread_create", code: status)
    }
    self.handle = handle
  }

  /// Waits for the end of the thread.
  package consuming func join() { pthread_join(handle, nil) }

  /// Detaches the thread.
  package consuming func detach() { pthread_detach(handle) }

  /// Raises the nice value of the calling thread (sched(7)), which must resume no task: see `givingWay`.
  package static func lowerPriority() { csystem_nice_thread(15) }

  fileprivate static func run(_ context: UnsafeMutableRawPointer) {
    let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    csystem_name_thread(start.name)
    start.body()
  }
}

// At file scope: a closure in another context may inherit an actor's isolation and trap on this thread.
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context { NamedThread.run(context) }
  return nil
}

/// What a task works for, also on the threads on which it waits for blocking work (`onThread`).
package enum TaskScope {
  @TaskLocal package static var current: (any Sendable)?
}

/// Runs blocking work on a new thread and waits for it without occupying a thread of Swift's cooperative pool.
///
/// - Parameter name: the name of the thread, at most 15 bytes.
package func onThread<Success: Sendable>(
  _ name: String, _ work: @escaping @Sendable () throws -> Success
) async throws -> Success {
  // Not passed by the continuation: ThreadSanitizer does not see that a continuation which is resumed before the task
  // suspends orders the accesses to what it passes.
  let result = Locked<Result<Success, any Error>?>(nil)
  let scope = TaskScope.current
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    do {
      try NamedThread(name: name) {
        let outcome = TaskScope.$current.withValue(scope) { Result { try work() } }
        result.withLock { $0 = outcome }
        continuation.resume()
      }.detach()
    } catch {
      result.withLock { $0 = .failure(error) }
      continuation.resume()
    }
  }
  return try result.withLock { $0 }!.get()
}

/// Runs blocking work on a thread with a raised nice value (sched(7)), and blocks until it ends.
///
/// A thread inherits the value of the one that starts it, and none may lower it again. The thread that did the work must not resume a task: it
/// would start threads of Swift's pool, on which requests gave way to everything from then on.
package func givingWay<Success: Sendable, Failure: Error>(
  _ name: String, _ work: @escaping @Sendable () throws(Failure) -> Success
) throws(Failure) -> Success {
  let result = Locked<Result<Success, Failure>?>(nil)
  do throws(SystemError) {
    try NamedThread(name: name) {
      NamedThread.lowerPriority()
      let outcome = Result { () throws(Failure) in try work() }
      result.withLock { $0 = outcome }
    }.join()
  } catch {
    return try work()
  }
  return try result.withLock { $0 }!.get()
}

/// A flag that one thread sets and another reads between steps of blocking work.
package final class CancellationFlag: Sendable {
  private let isSet = Atomic<Bool>(false)

  package init() {}

  /// Whether the work should stop.
  package var isCancelled: Bool { isSet.load(ordering: .acquiring) }

  /// Asks the work to stop; this cannot be undone.
  package func cancel() { isSet.store(true, ordering: .releasing) }
}
