import Glibc
internal import Platform

/// A program with its arguments, and the file that takes what it says.
struct Command {
  let path: String
  let arguments: [String]
  /// Takes standard output and standard error.
  let log: String

  /// Finds a program by its name in PATH.
  static func find(_ name: String) throws -> String {
    let folders = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin").split(separator: ":")
    guard let folder = folders.first(where: { access("\($0)/\(name)", X_OK) == 0 }) else {
      throw BenchError("there is no \(name) in PATH; on Debian: apt-get install ffmpeg")
    }
    return "\(folder)/\(name)"
  }

  /// The program of a name in the folder of the one that is running.
  static func beside(_ name: String) throws -> String {
    let path = "\(Folder.parent(of: try Folder.resolved(ThisProcess.executable)) ?? ".")/\(name)"
    guard access(path, X_OK) == 0 else {
      throw BenchError("there is no \(path); build it with: swift build -c release --product \(name)")
    }
    return path
  }

  /// Runs it to its end.
  func run() throws {
    let output = try Descriptor(writing: log, replacing: true)
    var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
    configuration.descriptors = [nil, output.number, output.number]
    configuration.environment = ["PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"]
    let child = try ChildProcess(configuration)
    let ending = child.wait()
    guard ending == .exited(0) else { throw BenchError("\(path) ended with \(ending); what it said: \(log)") }
  }
}
