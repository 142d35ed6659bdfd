internal import CSystem
import Glibc

/// A thread of our own for blocking work, so that no blocking call ever holds a thread of Swift's shared pool.
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
  ///   - name: what `ps -L` and debuggers show, at most 15 bytes.
  ///   - stackBytes: the size of its stack.
  ///   - body: what it does; the thread ends when this returns.
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

  /// Waits for the thread's end.
  package consuming func join() { pthread_join(handle, nil) }

  /// Lets the thread run on; its end is nobody's concern.
  package consuming func detach() { pthread_detach(handle) }

  /// Lets other threads go first from now on, wherever they and the calling one want the same core (sched(7), nice).
  package static func lowerPriority() { csystem_nice_thread(15) }

  fileprivate static func run(_ context: UnsafeMutableRawPointer) {
    let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    csystem_name_thread(start.name)
    start.body()
  }
}

// At file scope: a closure written elsewhere may inherit an actor's isolation and trap on a foreign thread.
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context { NamedThread.run(context) }
  return nil
}
