internal import Platform
internal import Synchronization

/// The tasks that handle requests, on threads of their own.
final class HandlerTasks: Sendable {
  private struct Shared {
    var running: [UInt64: Task<Void, Never>] = [:]
    /// Those that ended before they were entered.
    var ended: Set<UInt64> = []
    var isCancelled = false
  }

  private let executor: ThreadExecutor
  private let shared = Locked(Shared())
  private let next = Atomic<UInt64>(0)
  private let count = ActivityCount()

  init(threads: Int) throws(SystemError) { executor = try ThreadExecutor(name: "http-handler", threads: threads) }

  deinit { executor.stop() }

  /// Starts one; after `cancelAll()` it begins cancelled.
  func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    count.begin()
    let number = next.add(1, ordering: .relaxed).newValue
    let task = Task(executorPreference: executor) {
      await work()
      self.forget(number)
    }
    // Not around the task's beginning, which wakes a thread: all network threads come by here.
    let isCancelled = shared.withLock { shared in
      if shared.ended.remove(number) == nil { shared.running[number] = task }
      return shared.isCancelled
    }
    if isCancelled { task.cancel() }
    return task
  }

  /// Cancels those that run and all that come.
  func cancelAll() {
    let running = shared.withLock { shared in
      shared.isCancelled = true
      return Array(shared.running.values)
    }
    for task in running { task.cancel() }
  }

  /// Waits until none runs, or until the task is cancelled.
  func waitUntilNone() async { await count.waitUntilNone() }

  private func forget(_ number: UInt64) {
    shared.withLock { shared in
      if shared.running.removeValue(forKey: number) == nil { shared.ended.insert(number) }
    }
    count.end()
  }
}
