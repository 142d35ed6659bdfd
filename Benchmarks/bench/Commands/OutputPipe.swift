import Glibc
internal import Platform

/// What a program writes to its standard output, line by line.
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

  /// Starts a program that writes into it; the thread that calls must outlive it.
  mutating func start(_ command: Command) throws -> ChildProcess {
    guard let input = input.take() else { throw BenchError("a pipe is for one program", status: EX_SOFTWARE) }
    // Ours must be closed: otherwise the end of the program would not be the end of what it writes.
    return try command.start(output: input.number)
  }

  /// The next line; nil once the program has closed its end.
  ///
  /// - Parameter timeout: seconds to wait for it; nil: as long as it takes.
  func line(timeout: Int? = nil) throws -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var request = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, timeout.map { Int32($0) * 1000 } ?? -1) != 0 else {
        throw BenchError("nothing was heard of a program for \(timeout ?? 0) seconds", status: EX_UNAVAILABLE)
      }
      guard Glibc.read(output.number, &byte, 1) == 1 else { break }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
