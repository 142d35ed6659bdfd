import Glibc
internal import Platform

/// The resources that commands used, including those of descendants that were waited for.
struct Cost: Sendable {
  /// User and system time, in seconds.
  let processor: Double
  /// Elapsed time, in seconds.
  let elapsed: Double

  /// Runs commands one after another; each must exit with status 0.
  static func measuring(_ commands: [Command]) throws -> Cost {
    let clock = ContinuousClock()
    let before = usedByChildren()
    let start = clock.now
    for command in commands { try command.run() }
    let elapsed = (clock.now - start) / .seconds(1)
    return Cost(processor: usedByChildren() - before, elapsed: elapsed)
  }

  /// Measures what a body uses in this process and in children that end before it returns.
  static func measuring(_ body: () async throws -> Void) async throws -> Cost {
    let clock = ContinuousClock()
    let before = used(by: RUSAGE_SELF) + usedByChildren()
    let start = clock.now
    try await body()
    let elapsed = (clock.now - start) / .seconds(1)
    return Cost(processor: used(by: RUSAGE_SELF) + usedByChildren() - before, elapsed: elapsed)
  }

  private static func usedByChildren() -> Double { used(by: RUSAGE_CHILDREN) }

  private static func used(by processes: __rusage_who) -> Double {
    var usage = rusage()
    getrusage(processes.rawValue, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }
}

/// The peak memory of all processes of a command together, sampled a hundred times a second.
enum PeakMemory {
  private static let interval: UInt32 = 10_000

  /// Runs commands one after another and returns the largest number of resident bytes.
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
    // WNOWAIT leaves the child to `wait()`.
    waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
    return information.si_signo == 0
  }
}

/// The memory of a process and its descendants.
enum ProcessTree {
  /// The resident bytes, with shared pages divided among their processes (proc(5), `Pss`).
  ///
  /// - Parameter isAlone: whether descendants are left out.
  static func residentBytes(of process: Int32, isAlone: Bool = false) -> Int {
    let processes = (isAlone ? [] : descendants(of: process)) + [process]
    return processes.reduce(0) { $0 + (proportionalBytes(of: $1) ?? residentPages(of: $1) ?? 0) }
  }

  private static func descendants(of process: Int32) -> [Int32] {
    let threads = (try? Folder.names(in: "/proc/\(process)/task")) ?? []
    let children = threads.flatMap { thread in
      Descriptor.text(of: "/proc/\(process)/task/\(thread)/children").split(separator: " ").compactMap { Int32($0) }
    }
    return children + children.flatMap { descendants(of: $0) }
  }

  private static func proportionalBytes(of process: Int32) -> Int? {
    let line = Descriptor.text(of: "/proc/\(process)/smaps_rollup").split(separator: "\n").first {
      $0.hasPrefix("Pss:")
    }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  // The fallback for a process that denies ptrace: only root can read its `smaps_rollup`. Shared pages then count in full.
  private static func residentPages(of process: Int32) -> Int? {
    let fields = Descriptor.text(of: "/proc/\(process)/statm").split(separator: " ")
    return fields.count > 1 ? Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
  }
}

extension Descriptor {
  /// The first 64 KiB of a text file, such as one of /proc; empty if it cannot be read.
  static func text(of path: String) -> String {
    guard let file = try? Descriptor(reading: path), let bytes = try? file.bytes(count: 1 << 16, at: 0) else {
      return ""
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
