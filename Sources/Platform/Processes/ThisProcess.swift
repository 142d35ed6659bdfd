internal import CSystem
import Dispatch
import Glibc
import Synchronization

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

  /// The number of processors of the machine, at least 1.
  package static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// The maximum number of open files of this process.
  package static var openFilesLimit: Int { Int(clamping: csystem_open_files_limit()) }
}

/// Handles SIGINT and SIGTERM.
///
/// The first signal asks for an orderly end. The second ends the process at once: a kill at any time loses no data.
package final class StopSignals: @unchecked Sendable {
  private let first: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// Installs the handlers.
  package init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    first = stream
    let counter = SignalCounter()
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      return source(of: number) {
        if counter.next() == 1 { continuation.yield() } else { _exit(128 + number) }
      }
    }
  }

  /// Waits for the first signal; call it once.
  package func wait() async { for await _ in first { return } }
}

/// Counts signals on Dispatch's threads.
private final class SignalCounter: Sendable {
  private let count = Atomic<Int>(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

// At file scope: a closure in another context may inherit an actor's isolation and trap on Dispatch's thread.
private func source(of number: Int32, _ handle: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
  let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
  source.setEventHandler { @Sendable in handle() }
  source.activate()
  return source
}
