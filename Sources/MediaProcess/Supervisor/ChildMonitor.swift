import Glibc
import Platform

/// What is seen of a media process while it works, to tell whether the media broke it or somebody else did.
struct ChildMonitor {
  private var activity: ProcessActivity?
  /// The cgroup of the child's own, if somebody gave it one, and how many were ended there before.
  private var cgroup: (memory: MemoryCgroup, killsBefore: Int)?

  /// That of this process, in which a child begins: more than the child runs there.
  private static let ours = MemoryCgroup(of: getpid())

  /// A request is sent.
  mutating func begin(_ process: Int32) {
    activity = ProcessActivity(of: process)
    cgroup = nil
    look(at: process)
  }

  /// It works on it. In version 1 of cgroups one that has ended is in no cgroup any more: they are looked at before.
  mutating func look(at process: Int32) {
    guard let memory = MemoryCgroup(of: process), memory != cgroup?.memory, memory != Self.ours,
      memory.processes == [process]
    else { return }
    cgroup = (memory, memory.outOfMemoryKills ?? 0)
  }

  /// It ended without an answer.
  func failure(endedBy ending: ChildProcess.Ending) -> MediaFailure {
    let ranOut = cgroup.map { ($0.memory.outOfMemoryKills ?? 0) > $0.killsBefore } ?? false
    return MediaFailure(ending, hasOwnCgroupRunOut: ranOut)
  }

  /// It gave no answer in time, and still runs.
  func failure(of process: Int32, after deadline: Duration) -> MediaFailure {
    guard let now = ProcessActivity(of: process), let activity else {
      return MediaFailure(.deadlineExceeded, "no answer within \(deadline)")
    }
    return MediaFailure(
      states: now.states, processorSeconds: now.processorSeconds - activity.processorSeconds, after: deadline)
  }
}

extension MediaFailure {
  /// What the programs that work on media end by when media break them: by themselves, and by limits of their own.
  private static let signalsOfItsOwn: Set<Int32> = [
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ,
  ]

  /// What the end of a media process says, which nobody here asked for.
  ///
  /// A kill from outside, the kernel's for want of memory among them, says nothing about the media; unless the memory was
  /// that of a cgroup in which nothing else runs.
  init(_ ending: ChildProcess.Ending, hasOwnCgroupRunOut: Bool) {
    switch ending {
    case .exited(let status):
      self.init(.internal, "the media process exited with status \(status)")
    case .killed(let signal) where Self.signalsOfItsOwn.contains(signal):
      self.init(.crashed, "the media process was ended by signal \(signal)")
    case .killed(SIGKILL) where hasOwnCgroupRunOut:
      self.init(.memoryLimitExceeded, "the memory of its cgroup ran out, and the kernel ended the media process")
    case .killed(let signal):
      self.init(.interrupted, "the media process was ended from outside by signal \(signal)")
    }
  }

  /// What it says that a media process gave no answer within the deadline: one that was stopped, that waits for a device or
  /// that got less than a quarter of the time as processor time although it wanted it, may be as good as any.
  init(states: Set<Character>, processorSeconds: Double, after deadline: Duration) {
    if states.contains("T") || states.contains("t") {
      self.init(.interrupted, "the media process was stopped from outside")
    } else if states.contains("D") {
      self.init(.unavailable, "the media process waits for a device, after \(deadline)")
    } else if states.contains("R"), processorSeconds < deadline / .seconds(4) {
      self.init(
        .interrupted, "the media process had the processor for \(Int(processorSeconds)) s of \(deadline)")
    } else {
      self.init(.deadlineExceeded, "no answer within \(deadline)")
    }
  }
}
