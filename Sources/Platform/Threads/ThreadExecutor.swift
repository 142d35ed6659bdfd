import Glibc

/// An executor of a fixed number of threads of our own, for work that blocks.
///
/// With one thread it is serial and can own an actor whose every call blocks (a database connection);
/// with several it carries the tasks of a server that reads and writes files.
package final class ThreadExecutor: @unchecked Sendable {
  // One pthread mutex and condition, because a thread must sleep until there is work; everything below is guarded by it.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let available = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [UnownedJob] = []
  private var head = 0
  private var stopping = false

  /// Starts `threads` threads called `name`, which live until `stop()`.
  package init(name: String, threads: Int = 1) throws(SystemError) {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(available, nil)
    for _ in 0..<threads {
      // The threads hold the executor, so that it outlives its work.
      try NamedThread(name: name) { self.runJobs() }.detach()
    }
  }

  deinit {
    pthread_cond_destroy(available)
    pthread_mutex_destroy(mutex)
    available.deallocate()
    mutex.deallocate()
  }

  /// Ends the threads once the work already given is done.
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
    // Past the unlocking: the thread that wakes would only wait for the mutex.
    pthread_cond_signal(available)
  }

  private func next() -> UnownedJob? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while head == jobs.count {
      if stopping { return nil }
      pthread_cond_wait(available, mutex)
    }
    let job = jobs[head]
    head += 1
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      head = 0
    }
    return job
  }

  private func runJobs() {
    while let job = next() {
      job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }
}

extension ThreadExecutor: TaskExecutor, SerialExecutor {
  package func enqueue(_ job: consuming ExecutorJob) { add(job) }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
