internal import Platform
internal import Synchronization

/// The tasks that run request handlers, on their own threads.
final class HandlerTasks: Sendable {
  private struct Shared {
    var running: [UInt64: Task<Void, Never>] = [:]
    /// Tasks that ended before `start` added them to `running`.
    var ended: Set<UInt64> = []
    var isCancelled = false
  }

  private let threads: ClientThreads
  private let diskThreads: ClientThreads
  private let shared = Locked(Shared())
  private let next = Atomic<UInt64>(0)
  private let activity = ActivityCount()

  /// - Parameters:
  ///   - threads: the number of threads that most handlers of one client may occupy.
  ///   - diskThreads: the number of threads that handlers of one client which wait for the disk may occupy.
  ///   - diskTime: how long a handler may wait for the disk.
  init(threads: Int, diskThreads: Int, diskTime: Duration) throws(SystemError) {
    self.threads = try ClientThreads(name: "http-handler", maxPerClient: threads)
    self.diskThreads = try ClientThreads(
      name: "http-upload", maxPerClient: diskThreads, limit: ClientThreads.Limit(time: diskTime))
  }

  deinit {
    threads.stop()
    diskThreads.stop()
  }

  /// Whether the disk hangs, and no thread is left to wait for it.
  var isDiskStuck: Bool { diskThreads.areStuck }

  /// Starts a task for a client; after `cancelAll()` it is cancelled from the start.
  ///
  /// - Parameter onStuck: called if the task waits for the disk for too long; it is cancelled. Nil: it does not wait for it.
  func start(
    for client: ShareHolder, onStuck: (@Sendable () -> Void)?, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    activity.begin()
    let number = next.add(1, ordering: .relaxed).newValue
    let threads = onStuck == nil ? threads : diskThreads
    let executor = threads.begin(client) { [weak self] in
      onStuck?()
      self?.shared.withLock { $0.running[number] }?.cancel()
    }
    let task = Task(executorPreference: executor) {
      await work()
      threads.end(client)
      self.remove(number)
    }
    // The lock does not include the creation of the task, which wakes a thread: all network threads use this lock.
    let isCancelled = shared.withLock { shared in
      if shared.ended.remove(number) == nil { shared.running[number] = task }
      return shared.isCancelled
    }
    if isCancelled { task.cancel() }
    return task
  }

  /// Cancels the running tasks and all future ones.
  func cancelAll() {
    let running = shared.withLock { shared in
      shared.isCancelled = true
      return Array(shared.running.values)
    }
    for task in running { task.cancel() }
  }

  /// Waits until no task is running, or until the calling task is cancelled.
  func waitUntilNone() async { await activity.waitUntilNone() }

  private func remove(_ number: UInt64) {
    shared.withLock { shared in
      if shared.running.removeValue(forKey: number) == nil { shared.ended.insert(number) }
    }
    activity.end()
  }
}

/// A count of active operations, with tasks that wait until it is zero.
final class ActivityCount: Sendable {
  private struct Shared {
    var count = 0
    var waiters: [AsyncStream<Never>.Continuation] = []
  }

  private let shared = Locked(Shared())

  var count: Int { shared.withLock(\.count) }

  func begin() { shared.withLock { $0.count += 1 } }

  func end() {
    shared.withLock { shared in
      shared.count -= 1
      guard shared.count == 0 else { return }
      for waiter in shared.waiters { waiter.finish() }
      shared.waiters = []
    }
  }

  /// Waits until the count is zero, or until the calling task is cancelled.
  func waitUntilNone() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    shared.withLock { shared in
      if shared.count == 0 { continuation.finish() } else { shared.waiters.append(continuation) }
    }
    for await _ in stream {}
  }
}
