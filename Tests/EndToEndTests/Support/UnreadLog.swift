import Glibc
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// A program that is take5 with a log in a pipe that is full and has no reader, and the folder that it lies in.
struct UnreadLog: Sendable {
  let folder: TemporaryFolder
  /// The pipe of the log, full. This end stays open.
  private let pipe: OpenFile

  /// Fills the pipe, of which a part was read.
  func fill() { Self.fill(pipe.descriptor.number) }

  private static func fill(_ pipe: Int32) {
    _ = fcntl(pipe, F_SETFL, O_NONBLOCK)
    let line = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
    // Ends: when the pipe is full: it does not block.
    while write(pipe, line, line.count) > 0 {}
  }

  init() throws {
    folder = try TemporaryFolder(prefix: "take5-unread")
    try #require(mkfifo("\(folder.path)/log", 0o600) == 0)
    let number = open("\(folder.path)/log", O_RDWR | O_NONBLOCK | O_CLOEXEC)
    pipe = OpenFile(Descriptor(owning: number))
    Self.fill(number)
    let script = "#!/bin/sh\nexec '\(Take5Binary.path)' \"$@\" 2>'\(folder.path)/log'\n"
    try Descriptor(writing: program, replacing: false, mode: 0o755).write(Array(script.utf8))
  }

  /// A program that is take5 with its log in the pipe.
  var program: String { "\(folder.path)/unread" }

  /// Reads the log until a line contains `text`, or until it ends.
  func read(to text: String) async throws -> String {
    let (pipe, text) = (pipe, Array(text.utf8))
    return try await onThread("log") {
      _ = fcntl(pipe.descriptor.number, F_SETFL, 0)
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      var start = 0
      let deadline = Deadline("a text in the log")
      while true {
        try deadline.check()
        let count = Glibc.read(pipe.descriptor.number, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk.prefix(count)
        if !bytes[start...].ranges(of: text).isEmpty { break }
        start = max(0, bytes.count - text.count)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
