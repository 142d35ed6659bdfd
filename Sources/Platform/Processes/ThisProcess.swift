internal import CSystem
import Glibc

/// Settings of the current process.
package enum ThisProcess {
  /// The version of take5.
  package static let version = String(cString: csystem_version())

  /// The path of the running program, which stays valid when an upgrade replaces the file.
  package static let executable = "/proc/self/exe"

  /// The folder of the running program.
  package static func folder() throws(SystemError) -> String {
    let path = try Folder.resolved(executable)
    return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
  }

  /// Sets the name by which the kernel and `ps` list the calling thread, and with it the process if it is the main
  /// thread; at most 15 bytes.
  package static func setName(_ name: String) { csystem_name_thread(name) }

  /// Disables core dumps and tracing by other processes: the memory holds private media.
  package static func denyDumps() throws(SystemError) {
    guard csystem_deny_dumps() == 0 else { throw SystemError(call: "prctl") }
  }

  /// Makes this process the first choice of the OOM killer (proc(5), `oom_score_adj`).
  ///
  /// Call it before `denyDumps`: afterwards only root may write the file.
  package static func raiseOutOfMemoryScore() { _ = KernelFile.write("1000", to: "/proc/self/oom_score_adj") }

  /// Lets a fault end this process at once by its signal, as the system does by default, unless the environment configures Swift's
  /// backtraces: to print one takes seconds, in which this process serves no one and no other takes its place.
  package static func disableBacktraces() {
    guard getenv("SWIFT_BACKTRACE") == nil else { return }
    for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
  }

  /// Ignores SIGPIPE: a write to a closed socket fails with EPIPE.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Opens /dev/null in place of missing standard descriptors, so that no file opened later gets the number of one.
  ///
  /// A descriptor opened here can be neither read nor written.
  package static func openMissingStandardDescriptors() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
      // open(2) returns the lowest free number, which is this one.
      _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Raises the soft limit of open files to the hard limit: each connection is an open file.
  package static func raiseOpenFilesLimit() { csystem_raise_open_files_limit() }

  /// Lets threads share as many arenas of malloc(3) as there are processors, and lets free memory go. By glibc's default there are eight
  /// arenas for each processor, and every one keeps the most that its threads have needed at once. Call it first.
  package static func limitHeap() { csystem_limit_heap(Int32(clamping: max(2, processors))) }

  /// Leaves the place of the first process of a container to a small one that reaps orphans and passes on signals. Call it first.
  package static func leaveProcessOne() { csystem_leave_process_one(CommandLine.unsafeArgv) }

  /// The number of processors that this process may use, at least 1: by its affinity, and by the quota of its control group and of those
  /// above it, rounded up.
  package static let processors = max(
    1, min(Int(csystem_processors()), ControlGroup.processors(of: "/proc/self/cgroup")))

  /// The open files below which no service works.
  package static let minOpenFiles = 256

  /// The maximum number of open files of this process.
  package static var openFilesLimit: Int { Int(clamping: csystem_open_files_limit()) }
}
