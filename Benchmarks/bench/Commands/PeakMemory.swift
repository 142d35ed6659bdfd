import Glibc
internal import Platform

/// The most memory that programs need, all their processes together, looked at a hundred times a second.
enum PeakMemory {
  private static let interval: UInt32 = 10_000

  /// Runs commands one after another and returns the most bytes that were resident at any time.
  static func measuring(_ commands: [Command]) throws -> Int {
    try commands.reduce(0) { peak, command in max(peak, try measuring(command)) }
  }

  private static func measuring(_ command: Command) throws -> Int {
    let child = try command.start()
    var peak = 0
    while isRunning(child.id) {
      peak = max(peak, ProcessTree.residentBytes(of: child.id))
      usleep(interval)
    }
    try command.check(child.wait())
    return peak
  }

  private static func isRunning(_ process: Int32) -> Bool {
    var information = siginfo_t()
    // The child stays in the process table: its owner reaps it.
    waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
    return information.si_signo == 0
  }
}
