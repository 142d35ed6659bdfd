import Glibc
import Platform

/// The program of media processes: `take5-media`, in the folder of the running program.
enum MediaProgram {
  static let name = "take5-media"

  // Opened once and for the life of this process, by `MediaProcess.openProgram` or the first media process.
  private static let opened = Result<Int32, SystemError> { () throws(SystemError) in
    let path = try ThisProcess.folder() + "/" + name
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    // Above the numbers that a child process gets its descriptors at.
    let high = fcntl(number, F_DUPFD_CLOEXEC, 64)
    guard high >= 0 else { throw SystemError(call: "fcntl", subject: path) }
    close(number)
    return high
  }

  /// The path to execute.
  static func path() throws(SystemError) -> String { "/proc/self/fd/\(try opened.get())" }
}
