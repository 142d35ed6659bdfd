import Glibc
import Platform

/// The program of media processes, `take5-media`.
enum MediaProgram {
  static let name = "take5-media"

  /// The paths at which the program may be: next to the running program, where a build leaves it, or in the folder of
  /// programs that people do not run, where an installation has it (hier(7), /usr/libexec).
  static func paths(from folder: String) -> [String] { ["\(folder)/\(name)", "\(folder)/../libexec/take5/\(name)"] }

  // Opened once and for the life of this process, by `MediaProcess.openProgram` or the first media process.
  private static let opened = Result<Int32, SystemError> { () throws(SystemError) in
    let paths = MediaProgram.paths(from: try ThisProcess.folder())
    let path = paths.first { access($0, F_OK) == 0 } ?? paths[0]
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
