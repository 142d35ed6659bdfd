import Glibc
import Platform

/// Observes a child during its job, to decide whether the media or another process caused its failure.
struct ChildMonitor {
  private let process: Int32
  private(set) var stage: MediaCrash.Stage
  private let limits: MediaCrash.Limits
  /// The cgroup that holds only the fork server and the child, and its count of OOM kills before the job.
  private let cgroup: (memory: MemoryCgroup, killsBefore: Int)?
  private var activity: ProcessActivity?

  init(of process: Int32, in memory: MemoryCgroup?, stage: MediaCrash.Stage, limits: MediaCrash.Limits) {
    self.process = process
    self.stage = stage
    self.limits = limits
    cgroup = memory.map { ($0, $0.outOfMemoryKills ?? 0) }
    activity = ProcessActivity(of: process)
  }

  /// Observes the next stage of the job.
  mutating func begin(_ stage: MediaCrash.Stage) {
    self.stage = stage
    activity = ProcessActivity(of: process)
  }

  /// The failure of a child that ended; nil if it ended as it should.
  func failure(after end: ChildEnd) -> MediaFailure? {
    let isOutOfMemory = cgroup.map { ($0.memory.outOfMemoryKills ?? 0) > $0.killsBefore } ?? false
    return MediaFailure(end, isOutOfCgroupMemory: isOutOfMemory, stage: stage, limits: limits)
  }

  /// The failure of a child that runs but sent no reply before the deadline.
  func failure(afterDeadline deadline: Duration) -> MediaFailure {
    guard let now = ProcessActivity(of: process), let activity else {
      return MediaFailure(.interrupted, "the media process ended at its deadline")
    }
    return MediaFailure(
      states: now.states, processorSeconds: now.processorSeconds - activity.processorSeconds, after: deadline,
      stage: stage, limits: limits)
  }
}

extension MediaFailure {
  /// The signals that end a process because of its own fault, by their names (signal(7)).
  private static let faults: [Int32: String] = [
    SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
    SIGSYS: "SIGSYS", SIGXFSZ: "SIGXFSZ",
  ]

  /// The failure for a child that ended; nil if it exited with status 0.
  ///
  /// A signal from another process, or from the kernel's OOM killer, says nothing about the media, unless the limit of
  /// memory or of CPU time is the child's own.
  init?(_ end: ChildEnd, isOutOfCgroupMemory: Bool, stage: MediaCrash.Stage, limits: MediaCrash.Limits) {
    func crash(_ signal: String?) -> MediaCrash { MediaCrash(stage: stage, signal: signal, limits: limits) }
    switch end.ending {
    case .exited(0): return nil
    case .exited(ChildEnd.unconfined):
      self.init(.unavailable, "the media process could not build a wall that it built at its start")
    case .exited(let status):
      self.init(.internal, "the media process exited with status \(status)")
    case .killed(SIGSYS):
      self.init(.crashed, "SIGSYS: it made a system call that the sandbox forbids", crash: crash("SIGSYS"))
    case .killed(let signal) where Self.faults[signal] != nil:
      let name = Self.faults[signal] ?? "\(signal)"
      self.init(.crashed, "the media process was killed by signal \(signal) (\(name))", crash: crash(name))
    case .killed(let signal)
    where signal == SIGXCPU || (signal == SIGKILL && end.cpuSeconds >= Double(limits.cpuSeconds)):
      let seconds = "\(limits.cpuSeconds) s of CPU time"
      self.init(.deadlineExceeded, "the media process reached its limit of \(seconds)", crash: crash("SIGXCPU"))
    case .killed(SIGKILL) where isOutOfCgroupMemory:
      self.init(
        .memoryLimitExceeded, "the kernel killed the media process: its cgroup is out of memory", crash: crash(nil))
    case .killed(let signal):
      self.init(.interrupted, "another process killed the media process by signal \(signal)")
    }
  }

  /// The failure for a child that sent no reply before the deadline.
  ///
  /// The media are not the cause if the process is stopped, waits for a device, or is runnable but had the processor
  /// for less than a quarter of the time.
  init(
    states: Set<Character>, processorSeconds: Double, after deadline: Duration, stage: MediaCrash.Stage,
    limits: MediaCrash.Limits
  ) {
    if states.contains("T") || states.contains("t") {
      self.init(.interrupted, "another process stopped the media process")
    } else if states.contains("D") {
      self.init(.unavailable, "the media process waits for a device after \(deadline)")
    } else if states.contains("R"), processorSeconds < deadline / .seconds(4) {
      self.init(
        .interrupted, "the media process had the processor for \(Int(processorSeconds)) s of \(deadline)")
    } else {
      self.init(
        .deadlineExceeded, "no reply within \(max(.zero, deadline))",
        crash: MediaCrash(stage: stage, signal: nil, limits: limits))
    }
  }
}
