import Glibc

/// An executor with a fixed number of dedicated threads, for blocking work: either of an actor whose calls block (a database
/// connection), or of tasks (of a server that reads and writes files).
package final class ThreadExecutor: @unchecked Sendable {
  // A condition variable, because threads sleep until there is work. The mutex guards everything below.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let available = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs = JobList<UnownedJob>()
  private var stopping = false
  private let isOfActor: Bool

  /// Starts a thread called `name`, which runs an actor until `stop()`.
  package convenience init(name: String) throws(SystemError) { try self.init(name, threads: 1, isOfActor: true) }

  /// Starts `threads` threads called `name`, which run the tasks that prefer this executor until `stop()`.
  package convenience init(name: String, threads: Int) throws(SystemError) {
    try self.init(name, threads: threads, isOfActor: false)
  }

  private init(_ name: String, threads: Int, isOfActor: Bool) throws(SystemError) {
    self.isOfActor = isOfActor
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(available, nil)
    for _ in 0..<threads {
      // The threads reference the executor, so that it outlives its work.
      try NamedThread(name: name) { self.runJobs() }.detach()
    }
  }

  deinit {
    pthread_cond_destroy(available)
    pthread_mutex_destroy(mutex)
    available.deallocate()
    mutex.deallocate()
  }

  /// Ends the threads after the work that is already enqueued.
  package func stop() {
    pthread_mutex_lock(mutex)
    stopping = true
    pthread_cond_broadcast(available)
    pthread_mutex_unlock(mutex)
  }

  private func add(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pthread_mutex_lock(mutex)
    jobs.append(job)
    pthread_mutex_unlock(mutex)
    // After unlocking: otherwise the woken thread would wait for the mutex.
    pthread_cond_signal(available)
  }

  private func next() -> UnownedJob? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let job = jobs.popFirst() { return job }
      if stopping { return nil }
      pthread_cond_wait(available, mutex)
    }
  }

  private func runJobs() {
    while let job = next() {
      if isOfActor {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      } else {
        // A task is isolated to no actor. If it seemed to be, each call of a nonisolated function would be enqueued again.
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
}

extension ThreadExecutor: TaskExecutor, SerialExecutor {
  package func enqueue(_ job: consuming ExecutorJob) { add(job) }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
