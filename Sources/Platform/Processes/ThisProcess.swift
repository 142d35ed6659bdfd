internal import CSystem
import Glibc

/// What concerns the running process as a whole.
package enum ThisProcess {
  /// The path of the running program, which stays right when the file is replaced by an upgrade.
  package static let executable = "/proc/self/exe"

  /// Forbids core dumps and tracing by others: the memory holds somebody's pictures.
  package static func denyDumps() throws(SystemError) {
    guard csystem_deny_dumps() == 0 else { throw SystemError(call: "prctl") }
  }

  /// Makes this process the first that the kernel ends when memory runs out (proc(5), `oom_score_adj`).
  ///
  /// To be called before `denyDumps`, after which only root may.
  package static func offerToOutOfMemoryKiller() { _ = KernelFile.write("1000", to: "/proc/self/oom_score_adj") }

  /// Makes writing to a closed socket an error (EPIPE) instead of the process's end.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Keeps the numbers of the standard descriptors for what they mean, where this process was started without them: a file
  /// that is opened later is never taken for one. What was missing can be neither read nor written.
  package static func holdStandardDescriptors() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
      // The lowest number that is free is this one, since those below are taken.
      _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Allows as many open files as the process may allow itself: each connection is one.
  package static func raiseOpenFilesLimit() { csystem_raise_open_files_limit() }

  /// How many files this process may have open at a time.
  package static var openFilesLimit: Int { Int(clamping: csystem_open_files_limit()) }
}
