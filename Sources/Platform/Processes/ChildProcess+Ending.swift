import Glibc

extension ChildProcess {
  /// Waits for the end and leaves the child's entry in the process table, so that its id still means this child.
  package borrowing func waitForEnd() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
  }
}
