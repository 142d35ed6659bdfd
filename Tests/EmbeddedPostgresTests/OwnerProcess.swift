import Glibc
import Platform
import Postgres
import Testing

/// A child process that owns the server of a data folder.
struct OwnerProcess: ~Copyable {
  private let child: ChildProcess
  private let input: Descriptor
  /// The words of its first line, such as `owner 123`, with the process id of the server.
  let greeting: [Substring]
  private let dataFolder: String

  /// The address in the URL file.
  var url: DatabaseURL {
    get throws {
      let bytes = try Descriptor(reading: "\(dataFolder)/postgres.url").contents()
      return try DatabaseURL(String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline })
    }
  }

  /// The process id of its server.
  var server: Int32? { greeting.last.flatMap { Int32($0) } }

  init(dataFolder: String) throws {
    self.dataFolder = dataFolder
    let (input, output) = (try Self.pipe(), try Self.pipe())
    let here = try Folder.resolved("/proc/self/exe")
    var configuration = ChildProcess.Configuration(
      path: "\(Folder.parent(of: here) ?? "")/PostgresOwner", arguments: [dataFolder])
    configuration.environment = ["PATH": "/usr/bin:/bin"]
    configuration.descriptors = [input.reader, output.writer, 2]
    // The calling thread belongs to Swift's pool and may end at any time.
    configuration.parentDeathSignal = 0
    child = try ChildProcess(configuration)
    close(input.reader)
    close(output.writer)
    self.input = Descriptor(owning: input.writer)
    let reader = Descriptor(owning: output.reader)
    var line = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(reader.number, &line, line.count)
    greeting = String(decoding: line.prefix(max(count, 0)), as: UTF8.self).split(whereSeparator: \.isWhitespace)
  }

  /// Kills the process.
  consuming func kill() {
    child.send(signal: SIGKILL)
    _ = child.wait()
  }

  /// Closes its input, which makes it end.
  consuming func end() -> ChildProcess.Ending {
    close(input.release())
    return child.wait()
  }

  private static func pipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}

extension Tag {
  /// Uses PostgreSQL's server programs.
  @Tag static var database: Self
  /// Starts and kills processes.
  @Tag static var process: Self
}
