import Glibc
import Platform

/// A trace of the system calls of running processes, and of the children that they fork from then on, by strace(1).
///
/// It needs the privileges of root: a media process cannot be traced by other processes of its user.
package struct SystemCallTrace: Sendable {
  /// One call, as strace prints it: `openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3`.
  package struct Call: Hashable, Sendable, CustomStringConvertible {
    package let thread: Int32
    package let description: String

    /// The name of its manual page.
    package var name: String { String(description.prefix { $0 != "(" }) }
  }

  private let tracer: RunningTake5
  private let folder: String

  // Every call with a path, every call with a socket, and what makes such calls without an entry to the kernel.
  private static let calls = "%file,%network,open_by_handle_at,io_uring_setup"
  // A tracer that cannot end, because of a process that it waits for, is killed.
  private static let limit = ["-k", "1", "-s", "KILL", "300", "/usr/bin/strace"]

  /// Traces all threads of running processes; returns once it sees each of their calls.
  ///
  /// - Parameter folder: receives a file for each thread.
  package static func attach(to processes: [Int32], in folder: String) async throws -> SystemCallTrace {
    let tracer = try RunningTake5()
    let options = ["-ff", "-o", "\(folder)/trace", "-e", "trace=\(calls)"]
    _ = try await tracer.start(
      limit + options + processes.flatMap { ["-p", "\($0)"] }, program: "/usr/bin/timeout", printsFirstLine: false)
    for process in processes {
      guard await tracer.waitForLog("Process \(process) attached") else {
        throw SystemError(call: "strace", code: ESRCH, subject: tracer.log)
      }
    }
    return SystemCallTrace(tracer: tracer, folder: folder)
  }

  /// Runs `take5` from its first call to its end; returns its result and the calls of it and of all its children.
  package static func run(_ arguments: [String], in folder: String) async throws -> (Take5Command, [Call]) {
    let options = ["-ff", "-o", "\(folder)/trace", "-e", "trace=\(calls)", Take5Binary.path]
    let command = try await Take5Command.run(limit + options + arguments, program: "/usr/bin/timeout")
    return (command, try read(folder))
  }

  /// Waits until the traced processes have ended; returns their calls, thread by thread.
  package func end() async throws -> [Call] {
    _ = await tracer.wait()
    return try Self.read(folder)
  }

  private static func read(_ folder: String) throws -> [Call] {
    try Folder.names(in: folder).filter { $0.hasPrefix("trace.") }.sorted().flatMap { name in
      let lines = String(decoding: try Descriptor(reading: "\(folder)/\(name)").contents(), as: UTF8.self)
      // Other lines are signals, `---`, and ends, `+++`.
      return lines.split(separator: "\n").filter { $0.first?.isLetter == true }.map {
        Call(thread: Int32(name.dropFirst("trace.".count)) ?? 0, description: String($0))
      }
    }
  }
}
