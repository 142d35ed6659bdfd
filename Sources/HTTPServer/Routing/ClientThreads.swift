import Glibc
internal import Platform

/// The threads that run handlers. Each client has a queue, the queues take turns, and no client occupies all threads: whatever the
/// handlers of one do, a thread takes the next handler of another.
final class ClientThreads: @unchecked Sendable {
  // A condition variable, because threads sleep until there is work. The mutex guards everything below, and the queues.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let available = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The queues of the clients that have requests.
  private var queues: [ShareHolder: ClientQueue] = [:]
  /// The queues whose next job may run, in turn.
  private var turns = JobList<ClientQueue>()
  private var stopping = false
  private let maxPerClient: Int

  /// Starts the threads called `name`, one more than one client may occupy.
  init(name: String, maxPerClient: Int) throws(SystemError) {
    self.maxPerClient = maxPerClient
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(available, nil)
    for _ in 0...maxPerClient {
      // The threads reference this object, so that it outlives its work.
      try NamedThread(name: name) { self.run() }.detach()
    }
  }

  deinit {
    pthread_cond_destroy(available)
    pthread_mutex_destroy(mutex)
    available.deallocate()
    mutex.deallocate()
  }

  /// Ends the threads after the work that is already enqueued.
  func stop() {
    pthread_mutex_lock(mutex)
    stopping = true
    pthread_cond_broadcast(available)
    pthread_mutex_unlock(mutex)
  }

  /// Returns the executor for a further request of a client.
  func begin(_ client: ShareHolder) -> ClientQueue {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let queue = queues[client] ?? ClientQueue(self)
    queues[client] = queue
    queue.requests += 1
    return queue
  }

  /// Forgets a request of a client.
  func end(_ client: ShareHolder) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard let queue = queues[client] else { return }
    queue.requests -= 1
    if queue.requests == 0 { queues[client] = nil }
  }

  fileprivate func add(_ job: UnownedJob, to queue: ClientQueue) {
    pthread_mutex_lock(mutex)
    queue.jobs.append(job)
    takeTurn(queue)
    pthread_mutex_unlock(mutex)
    // After unlocking: otherwise the woken thread would wait for the mutex.
    pthread_cond_signal(available)
  }

  /// Puts a queue behind the others, if it has a job that may run. Under the mutex.
  private func takeTurn(_ queue: ClientQueue) {
    guard !queue.isInTurn, !queue.jobs.isEmpty, queue.running < maxPerClient else { return }
    queue.isInTurn = true
    turns.append(queue)
  }

  private func run() {
    var ended: ClientQueue?
    while let (job, queue) = next(after: ended.take()) {
      // A task is isolated to no actor. If it seemed to be, each call of a nonisolated function would be enqueued again.
      job.runSynchronously(on: queue.asUnownedTaskExecutor())
      ended = queue
    }
  }

  /// Waits for the next job; nil if the thread must end.
  private func next(after ended: ClientQueue?) -> (UnownedJob, ClientQueue)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if let ended {
      ended.running -= 1
      takeTurn(ended)
    }
    while true {
      if let queue = turns.popFirst(), let job = queue.jobs.popFirst() {
        queue.isInTurn = false
        queue.running += 1
        takeTurn(queue)
        if !turns.isEmpty { pthread_cond_signal(available) }
        return (job, queue)
      }
      if stopping { return nil }
      pthread_cond_wait(available, mutex)
    }
  }
}

/// The jobs of the tasks of one client, which prefer it as their executor.
final class ClientQueue: TaskExecutor, @unchecked Sendable {
  private let threads: ClientThreads
  fileprivate var jobs = JobList<UnownedJob>()
  fileprivate var requests = 0
  /// The number of threads that run a job of the queue.
  fileprivate var running = 0
  fileprivate var isInTurn = false

  fileprivate init(_ threads: ClientThreads) { self.threads = threads }

  func enqueue(_ job: consuming ExecutorJob) { threads.add(UnownedJob(job), to: self) }
}
