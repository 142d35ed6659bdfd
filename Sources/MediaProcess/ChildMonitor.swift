import Glibc
import Platform

/// Observes a media process during a request, to decide whether the media or another process caused its failure.
struct ChildMonitor {
  private var activity: ProcessActivity?
  /// The cgroup that holds only the child, if there is one, and its count of OOM kills before the request.
  private var cgroup: (memory: MemoryCgroup, killsBefore: Int)?

  /// The cgroup of this process, in which a child starts and which other processes share.
  private static let parentCgroup = MemoryCgroup(of: getpid())

  /// Starts the observation of a process to which a request was sent.
  mutating func requestSent(to process: Int32) {
    activity = ProcessActivity(of: process)
    cgroup = nil
    observe(process)
  }

  /// Records the cgroup of the running process: in version 1 of cgroups, a process that has ended is in no cgroup.
  mutating func observe(_ process: Int32) {
    guard let memory = MemoryCgroup(of: process), memory != cgroup?.memory, memory != Self.parentCgroup,
      memory.processes == [process]
    else { return }
    cgroup = (memory, memory.outOfMemoryKills ?? 0)
  }

  /// The failure of a process that ended without a reply.
  func failure(endedBy ending: ChildProcess.Ending) -> MediaFailure {
    let isOutOfMemory = cgroup.map { ($0.memory.outOfMemoryKills ?? 0) > $0.killsBefore } ?? false
    return MediaFailure(ending, isOutOfCgroupMemory: isOutOfMemory)
  }

  /// The failure of a process that runs but sent no reply before the deadline.
  func failure(of process: Int32, after deadline: Duration) -> MediaFailure {
    guard let now = ProcessActivity(of: process), let activity else {
      return MediaFailure(.deadlineExceeded, "no reply within \(deadline)")
    }
    return MediaFailure(
      states: now.states, processorSeconds: now.processorSeconds - activity.processorSeconds, after: deadline)
  }
}

extension MediaFailure {
  /// The signals that end a process because of its own fault or its own resource limits.
  private static let crashSignals: Set<Int32> = [
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ,
  ]

  /// The failure for a media process that ended without being asked to.
  ///
  /// A signal from another process, or from the kernel's OOM killer, says nothing about the media, unless the memory
  /// limit is that of a cgroup that holds only the media process.
  init(_ ending: ChildProcess.Ending, isOutOfCgroupMemory: Bool) {
    switch ending {
    case .exited(let status):
      self.init(.internal, "the media process exited with status \(status)")
    case .killed(let signal) where Self.crashSignals.contains(signal):
      self.init(.crashed, "the media process was killed by signal \(signal)")
    case .killed(SIGKILL) where isOutOfCgroupMemory:
      self.init(.memoryLimitExceeded, "the kernel killed the media process: its cgroup is out of memory")
    case .killed(let signal):
      self.init(.interrupted, "another process killed the media process by signal \(signal)")
    }
  }

  /// The failure for a media process that sent no reply before the deadline.
  ///
  /// The media are not the cause if the process is stopped, waits for a device, or is runnable but had the processor
  /// for less than a quarter of the time.
  init(states: Set<Character>, processorSeconds: Double, after deadline: Duration) {
    if states.contains("T") || states.contains("t") {
      self.init(.interrupted, "another process stopped the media process")
    } else if states.contains("D") {
      self.init(.unavailable, "the media process waits for a device after \(deadline)")
    } else if states.contains("R"), processorSeconds < deadline / .seconds(4) {
      self.init(
        .interrupted, "the media process had the processor for \(Int(processorSeconds)) s of \(deadline)")
    } else {
      self.init(.deadlineExceeded, "no reply within \(deadline)")
    }
  }
}
