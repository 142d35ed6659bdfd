import FoundationEssentials
import Glibc
package import Platform

/// Writes log lines on a thread of its own, so that a reader who stops does not stop the threads that log.
///
/// Lines wait in a queue of limited size. While it is full, further lines are dropped; when the queue is written, a line has their
/// number.
package final class LogOutput: Sendable {
  private struct State {
    var lines: [String] = []
    /// The length of the lines that are not written yet.
    var bytes = 0
    /// The lines that were dropped after the lines in the queue.
    var dropped = 0
    /// Whether the thread waits for a line.
    var isIdle = true
    /// Whether a caller waits until all lines are written.
    var isFlushed = false
  }

  /// The lines of a thousand requests and more.
  package static let maxBytes = 1 << 20
  /// The time in which further lines wait for those before: they wake the thread once, and not each of them.
  private static let pauseMicroseconds: UInt32 = 5_000

  private let descriptor: Int32
  private let format: LogFormat
  private let onDrop: @Sendable () -> Void
  private let state = Locked(State())
  private let filled: Event
  private let written: Event

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - format: the format of the line with the number of dropped lines.
  ///   - onDrop: called for each line that is dropped because the queue is full, or cannot be written.
  package init(
    descriptor: Int32 = 2, format: LogFormat, onDrop: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.format = format
    self.onDrop = onDrop
    filled = try Event()
    written = try Event()
    try NamedThread(name: "log") { self.run() }.detach()
  }

  /// Appends a line to the queue, or drops it; never waits for the reader.
  package func add(_ line: String) {
    let (isAdded, wakes) = state.withLock { state -> (Bool, Bool) in
      let wakes = state.isIdle
      state.isIdle = false
      // A line behind dropped ones waits for the line with their number.
      guard state.dropped == 0, state.bytes + line.utf8.count <= Self.maxBytes else {
        state.dropped += 1
        return (false, wakes)
      }
      state.lines.append(line)
      state.bytes += line.utf8.count
      return (true, wakes)
    }
    if wakes { filled.signal() }
    if !isAdded { onDrop() }
  }

  /// Waits until all lines are written, or until `limit` passes.
  package func flush(within limit: Duration) {
    let waits = state.withLock { state in
      if state.isIdle { return false }
      state.isFlushed = true
      written.clear()
      return true
    }
    if waits { written.wait(for: limit) }
  }

  private func run() {
    var lost = 0
    while true {
      filled.wait()
      filled.clear()
      repeat {
        while let (lines, dropped) = next() {
          for line in lines {
            write(line, lost: &lost)
            state.withLock { $0.bytes -= line.utf8.count }
          }
          lost += dropped
          writeNotice(lost: &lost)
        }
        usleep(Self.pauseMicroseconds)
      } while !rest()
    }
  }

  /// Takes what waits; nil if that is nothing.
  private func next() -> (lines: [String], dropped: Int)? {
    state.withLock { state -> (lines: [String], dropped: Int)? in
      guard !state.lines.isEmpty || state.dropped > 0 else { return nil }
      defer { (state.lines, state.dropped) = ([], 0) }
      return (state.lines, state.dropped)
    }
  }

  /// Lets the next line wake the thread; false if one waits.
  private func rest() -> Bool {
    state.withLock { state in
      guard state.lines.isEmpty, state.dropped == 0 else { return false }
      state.isIdle = true
      if state.isFlushed { written.signal() }
      state.isFlushed = false
      return true
    }
  }

  private func write(_ line: String, lost: inout Int) {
    guard writeNotice(lost: &lost), send(line) else {
      lost += 1
      return onDrop()
    }
  }

  /// Writes the number of lost lines; false if that fails, and they remain to be counted.
  @discardableResult
  private func writeNotice(lost: inout Int) -> Bool {
    guard lost > 0 else { return true }
    let fields = [(key: "lines", value: "\(lost)")]
    guard send(format.line(time: Date(), level: .warning, message: "log lines were dropped", fields: fields)) else {
      return false
    }
    lost = 0
    return true
  }

  /// Writes a line with one write(2) if the reader permits it, so that lines of several processes do not mix.
  private func send(_ line: String) -> Bool {
    var line = line
    return line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
          // Another process that shares the terminal or the pipe may have set O_NONBLOCK.
          var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&request, 1, -1)
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}
