import Glibc
internal import Platform

/// A program with its arguments and the log file of its output.
struct Command: Sendable {
  let path: String
  let arguments: [String]
  /// The file for standard output and standard error.
  let log: String
  /// The environment in addition to PATH.
  var environment: [String: String] = [:]

  /// Runs the program and throws unless it exits with status 0.
  func run() throws {
    let child = try start()
    try check(child.wait())
  }

  /// Runs the program and returns its output.
  func output() throws -> String {
    try run()
    return String(decoding: try Descriptor(reading: log).contents(), as: UTF8.self)
  }

  /// Starts the program; the calling thread must outlive it.
  ///
  /// - Parameter output: the descriptor for standard output instead of the log.
  func start(output: Int32? = nil) throws -> ChildProcess {
    let log = try Descriptor(writing: log, replacing: true)
    var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
    configuration.descriptors = [nil, output ?? log.number, log.number]
    configuration.environment = environment
    configuration.environment["PATH"] = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return try ChildProcess(configuration)
  }

  /// Throws unless the program exited with status 0.
  func check(_ ending: ChildProcess.Ending) throws {
    guard ending == .exited(0) else { throw BenchError("\(path) ended with \(ending); its output: \(log)") }
  }
}

/// A pipe that reads the standard output of a program line by line.
struct OutputPipe: ~Copyable {
  private let output: Descriptor
  private var input: Descriptor?

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = Descriptor(owning: ends[0])
    input = Descriptor(owning: ends[1])
  }

  /// Starts the program that writes into the pipe; the calling thread must outlive it.
  mutating func start(_ command: Command) throws -> ChildProcess {
    guard let input = input.take() else { throw BenchError("the pipe is already in use", status: EX_SOFTWARE) }
    // This process's copy of the input is closed, otherwise the end of the program would not be the end of the file.
    return try command.start(output: input.number)
  }

  /// Returns the next line; nil at the end of the output.
  ///
  /// - Parameter timeout: in seconds; nil: unlimited.
  func line(timeout: Int? = nil) throws -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var request = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, timeout.map { Int32($0) * 1000 } ?? -1) != 0 else {
        throw BenchError("the program printed nothing for \(timeout ?? 0) seconds", status: EX_UNAVAILABLE)
      }
      guard Glibc.read(output.number, &byte, 1) == 1 else { break }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

/// The paths of the programs that the benchmark runs.
struct Programs: Sendable {
  let take5: String
  /// The path of the program of media processes, in the folder of take5.
  let media: String
  let ffmpeg: String
  let ffprobe: String
  /// The path of this program.
  let bench: String

  /// - Parameter take5: the path of take5; nil: in the folder of this program.
  init(take5: String?) throws {
    let bench = try Folder.resolved(ThisProcess.executable)
    self.bench = bench
    let take5 = try Self.take5(take5)
    self.take5 = take5
    media = try Self.sibling(of: take5, name: "take5-media")
    ffmpeg = try Self.find("ffmpeg")
    ffprobe = try Self.find("ffprobe")
  }

  /// Returns the path of take5.
  ///
  /// - Parameter path: nil: in the folder of this program.
  static func take5(_ path: String?) throws -> String {
    try path ?? sibling(of: Folder.resolved(ThisProcess.executable), name: "take5")
  }

  private static func find(_ name: String) throws -> String {
    let folders = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin").split(separator: ":")
    guard let folder = folders.first(where: { access("\($0)/\(name)", X_OK) == 0 }) else {
      throw BenchError("\(name) was not found in PATH; on Debian: apt-get install ffmpeg")
    }
    return "\(folder)/\(name)"
  }

  private static func sibling(of program: String, name: String) throws -> String {
    let path = "\(Folder.parent(of: program) ?? ".")/\(name)"
    guard access(path, X_OK) == 0 else {
      throw BenchError("\(path) not found; build it with: swift build -c release --product \(name)")
    }
    return path
  }
}
