import Glibc

/// The calling thread.
package enum ThisThread {
  /// The processor time that it has used, which does not depend on what else the machine does (`CLOCK_THREAD_CPUTIME_ID`).
  package static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
