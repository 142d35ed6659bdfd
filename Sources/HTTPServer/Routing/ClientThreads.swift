import Glibc
internal import Platform

/// The threads that run handlers. Each client has a queue, the queues take turns, and no client occupies all threads: whatever the
/// handlers of one do, a thread takes the next handler of another.
///
/// A thread that a call does not give back, such as one to a disk that hangs, is stuck. Its request is reported, another thread takes its
/// place, and the thread ends when the call does. The number of stuck threads is limited: above it there is no thread for further requests.
final class ClientThreads: @unchecked Sendable {
  /// How long a handler may hold a thread between two suspensions.
  struct Limit: Sendable {
    var time: Duration
    /// The number of stuck threads in whose place others are started.
    var replaced = 16
  }

  /// A thread and what it runs.
  private final class Worker {
    var request: RequestExecutor?
    var start = ContinuousClock.now
    var isStuck = false
  }

  // A condition variable, because threads sleep until there is work. The mutex guards everything below, and the queues.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let available = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The queues of the clients that have requests.
  private var queues: [ShareHolder: ClientQueue] = [:]
  /// The queues whose next job may run, in turn.
  private var turns = JobList<ClientQueue>()
  private var workers: [ObjectIdentifier: Worker] = [:]
  private var stuck = 0
  /// The threads in the place of stuck ones.
  private var replacements = 0
  private var isWatched = false
  private var stopping = false
  private let name: String
  private let maxPerClient: Int
  private let limit: Limit?

  /// Starts the threads called `name`, one more than one client may occupy.
  ///
  /// - Parameter limit: nil: handlers wait for nothing that may hang.
  init(name: String, maxPerClient: Int, limit: Limit? = nil) throws(SystemError) {
    self.name = name
    self.maxPerClient = maxPerClient
    self.limit = limit
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(available, nil)
    for _ in 0...maxPerClient { try startThread() }
  }

  deinit {
    pthread_cond_destroy(available)
    pthread_mutex_destroy(mutex)
    available.deallocate()
    mutex.deallocate()
  }

  private func startThread() throws(SystemError) {
    // The threads reference this object, so that it outlives its work.
    try NamedThread(name: name) {
      // Work without a limit waits for nothing that may hang.
      if self.limit == nil { CriticalSection.run { self.run() } } else { self.run() }
    }.detach()
  }

  /// Ends the threads after the work that is already enqueued.
  func stop() {
    pthread_mutex_lock(mutex)
    stopping = true
    pthread_cond_broadcast(available)
    pthread_mutex_unlock(mutex)
  }

  /// Whether all threads are stuck, so that a further request would only wait.
  var areStuck: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return stuck > maxPerClient + replacements
  }

  /// Returns the executor for a further request of a client.
  ///
  /// - Parameter onStuck: called once if a thread of the request is stuck, or if it waits as long while others are.
  func begin(_ client: ShareHolder, onStuck: @escaping @Sendable () -> Void = {}) -> RequestExecutor {
    pthread_mutex_lock(mutex)
    let queue = queues[client] ?? ClientQueue()
    queues[client] = queue
    queue.requests += 1
    let startsWatch = limit != nil && !isWatched
    if startsWatch { isWatched = true }
    pthread_mutex_unlock(mutex)
    if startsWatch { Task { await watch() } }
    return RequestExecutor(self, queue, onStuck)
  }

  /// Forgets a request of a client.
  func end(_ client: ShareHolder) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard let queue = queues[client] else { return }
    queue.requests -= 1
    if queue.requests == 0 { queues[client] = nil }
  }

  fileprivate func add(_ job: UnownedJob, of request: RequestExecutor) {
    pthread_mutex_lock(mutex)
    let queue = request.queue
    queue.jobs.append((job, request))
    request.waitsSince = request.waitsSince ?? .now
    if limit != nil { queue.waiting[ObjectIdentifier(request)] = request }
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
    let worker = Worker()
    while true {
      let ended = worker.request
      let found = next(for: worker, waits: ended == nil)
      // Not under the mutex: with a request the server may end, which stops these threads. And before the thread waits: otherwise it would
      // keep what the request keeps.
      withExtendedLifetime(ended) {}
      switch found {
      // A task is isolated to no actor. If it seemed to be, each call of a nonisolated function would be enqueued again.
      case .job(let job, let request): job.runSynchronously(on: request.asUnownedTaskExecutor())
      case .none: continue
      case .end: return
      }
    }
  }

  /// What a thread does next.
  private enum Next {
    case job(UnownedJob, RequestExecutor)
    /// There is no job, and the thread was not to wait for one.
    case none
    case end
  }

  /// Ends the request of a worker, and returns the next job.
  private func next(for worker: Worker, waits: Bool) -> Next {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if let ended = worker.request.take() {
      workers[ObjectIdentifier(worker)] = nil
      if worker.isStuck {
        worker.isStuck = false
        stuck -= 1
        if replacements > stuck {
          replacements -= 1
          return .end
        }
      } else {
        ended.queue.running -= 1
        takeTurn(ended.queue)
      }
    }
    while true {
      if let queue = turns.popFirst(), let (job, request) = queue.jobs.popFirst() {
        queue.isInTurn = false
        queue.running += 1
        takeTurn(queue)
        if !turns.isEmpty { pthread_cond_signal(available) }
        request.waitsSince = nil
        queue.waiting[ObjectIdentifier(request)] = nil
        worker.request = request
        if limit != nil {
          worker.start = .now
          workers[ObjectIdentifier(worker)] = worker
        }
        return .job(job, request)
      }
      if stopping { return .end }
      guard waits else { return .none }
      pthread_cond_wait(available, mutex)
    }
  }

  // MARK: Threads that are stuck

  /// Reports requests whose threads are stuck, as long as there are requests.
  private func watch() async {
    while let requests = takeStuck() {
      for request in requests { request.onStuck() }
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
    }
  }

  /// Returns the requests to report; nil if there are no requests any more.
  private func takeStuck() -> [RequestExecutor]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !queues.isEmpty, let limit else {
      isWatched = false
      return nil
    }
    let last = ContinuousClock.now - limit.time
    var found: [RequestExecutor] = []
    for worker in workers.values where !worker.isStuck && worker.start <= last {
      guard let request = worker.request else { continue }
      worker.isStuck = true
      stuck += 1
      // The client's other requests may go on.
      request.queue.running -= 1
      takeTurn(request.queue)
      if replacements < limit.replaced { replace() }
      found.append(request)
    }
    if !turns.isEmpty { pthread_cond_signal(available) }
    if stuck > 0 {
      for queue in queues.values {
        found += queue.waiting.values.filter { $0.waitsSince.map { $0 <= last } ?? false }
      }
    }
    return found.filter { request in
      defer { request.isReported = true }
      return !request.isReported
    }
  }

  private func replace() {
    do throws(SystemError) {
      try startThread()
      replacements += 1
    } catch {
      // The other threads go on.
    }
  }
}

/// The requests of one client.
final class ClientQueue: @unchecked Sendable {
  fileprivate var jobs = JobList<(UnownedJob, RequestExecutor)>()
  fileprivate var waiting: [ObjectIdentifier: RequestExecutor] = [:]
  fileprivate var requests = 0
  /// The number of threads that run a job of the queue and are not stuck.
  fileprivate var running = 0
  fileprivate var isInTurn = false

  fileprivate init() {}
}

/// The executor that the tasks of one request prefer.
final class RequestExecutor: TaskExecutor, @unchecked Sendable {
  private let threads: ClientThreads
  fileprivate let queue: ClientQueue
  fileprivate let onStuck: @Sendable () -> Void
  /// Since when a job waits for a thread.
  fileprivate var waitsSince: ContinuousClock.Instant?
  fileprivate var isReported = false

  fileprivate init(_ threads: ClientThreads, _ queue: ClientQueue, _ onStuck: @escaping @Sendable () -> Void) {
    self.threads = threads
    self.queue = queue
    self.onStuck = onStuck
  }

  func enqueue(_ job: consuming ExecutorJob) { threads.add(UnownedJob(job), of: self) }
}
