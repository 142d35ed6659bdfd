import Glibc

extension ChildProcess {
  /// Waits for the end and leaves the child's entry in the process table, so that its id still means this child.
  package borrowing func waitForEnd() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
  }

  /// The same for so long at most; whether it has ended.
  package borrowing func waitForEnd(atMost limit: Duration) -> Bool {
    let end = ContinuousClock.now + limit
    while true {
      var information = siginfo_t()
      guard waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | WNOHANG) == 0 else { return errno != EINTR }
      // Nothing is filled in while it runs (waitid(2)).
      if information.si_signo == SIGCHLD { return true }
      guard ContinuousClock.now < end else { return false }
      usleep(1_000)
    }
  }
}
