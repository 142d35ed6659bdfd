import Glibc
import Platform
import Telemetry
import Testing

@Suite("Log output")
struct LogOutputTests {
  /// A pipe, and an output that writes to it.
  private struct Log: ~Copyable {
    let reading: Descriptor
    let writing: Descriptor
    let output: LogOutput
    let counter = Counter()

    final class Counter: Sendable {
      private let count = Locked(0)
      var value: Int { count.withLock { $0 } }
      func add() { count.withLock { $0 += 1 } }
    }

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      output = try LogOutput(descriptor: ends[1], format: .text) { [counter] in counter.add() }
      reading = Descriptor(owning: ends[0])
      writing = Descriptor(owning: ends[1])
    }

    /// Reads a line.
    func line() -> String {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while read(reading.number, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test("lines are written in their order, and a flush waits for the last one")
  func order() throws {
    let log = try Log()
    for number in 0..<100 { log.output.add("\(number)\n") }
    log.output.flush(within: .seconds(60))
    #expect((0..<100).map { _ in log.line() } == (0..<100).map(String.init))
    #expect(log.counter.value == 0)
  }

  @Test("who logs does not wait for a reader that stops; what it misses is counted where it is missing")
  func stopped() throws {
    let log = try Log()
    let text = String(repeating: "x", count: 1000)
    let count = 3 * LogOutput.maxBytes / text.count
    for number in 0..<count { log.output.add("\(number) \(text)\n") }
    log.output.flush(within: .zero)
    // A mebibyte waits, and what the pipe holds is written.
    let dropped = log.counter.value
    #expect(dropped > count / 3 && dropped < count)
    var (next, counted) = (0, 0)
    while next < count {
      let line = log.line()
      if line.contains("warning log lines were dropped  lines="),
        let number = Int(line.split(separator: "=").last ?? "")
      {
        (next, counted) = (next + number, counted + number)
      } else {
        try #require(line == "\(next) \(text)")
        next += 1
      }
    }
    #expect(counted == dropped && next == count)
    log.output.flush(within: .seconds(60))
    log.output.add("next\n")
    #expect(log.line() == "next")
    #expect(log.counter.value == dropped)
  }

  @Test("a line that is larger than the queue is dropped, and the next one is written")
  func large() throws {
    let log = try Log()
    log.output.add(String(repeating: "x", count: LogOutput.maxBytes + 1))
    #expect(log.line().hasSuffix("log lines were dropped  lines=1"))
    log.output.flush(within: .seconds(60))
    log.output.add("next\n")
    #expect(log.line() == "next" && log.counter.value == 1)
  }

  @Test("lines that cannot be written are counted, and the next ones are tried")
  func failing() throws {
    let path = "/tmp/take5-log-\(getpid())"
    let file = try Descriptor(writing: path, replacing: true)
    defer { unlink(path) }
    // A descriptor for reading fails every write, until one for writing takes its place.
    let number = open(path, O_RDONLY | O_CLOEXEC)
    let output = try LogOutput(descriptor: number, format: .text) {}
    for _ in 0..<3 { output.add("lost\n") }
    output.flush(within: .seconds(60))
    try #require(dup2(file.number, number) == number)
    output.add("found\n")
    output.flush(within: .seconds(60))
    let lines = String(decoding: try file.contents(), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasSuffix("log lines were dropped  lines=3") && lines[1] == "found")
  }
}
