import Glibc
import Platform
import Testing
import WaitTesting

/// The lines that a child process writes to standard error, for tests that wait for a line.
final class LogLines: Sendable {
  private struct State {
    var lines: [String] = []
    var hasEnded = false
    var actions: [(text: String, times: Int, act: @Sendable () -> Void)] = []
  }

  private let state = Locked(State())

  /// Starts a thread that reads a pipe to its end.
  func read(from pipe: consuming Descriptor) throws {
    let file = OpenFile(pipe)
    try NamedThread(name: "take5-log") {
      var rest: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 14)
      // Ends: with the last process that has the pipe.
      while true {
        let count = Glibc.read(file.descriptor.number, &chunk, chunk.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        rest += chunk.prefix(count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          self.add(String(decoding: rest[..<end], as: UTF8.self))
          rest = Array(rest[(end + 1)...])
        }
      }
      self.end()
    }.detach()
  }

  /// All lines so far.
  var text: String { state.withLock { $0.lines.joined(separator: "\n") } }

  /// Calls `act` when a line that contains `text` is read, for the first `times` such lines.
  ///
  /// The call is made on the reading thread, so that a busy test run does not delay it.
  func on(_ text: String, times: Int, _ act: @escaping @Sendable () -> Void) {
    state.withLock { $0.actions.append((text, times, act)) }
  }

  /// Waits for a line that contains `text`, from the index `from`. Returns its index; nil if the child ends before it, and with an issue
  /// if neither comes.
  func wait(for text: String, from: Int) async -> Int? {
    var index: Int?
    do {
      try await until("a line of a log with '\(text)'") {
        state.withLock { state in
          index = state.lines[min(from, state.lines.count)...].firstIndex { $0.contains(text) }
          return index != nil || state.hasEnded
        }
      }
    } catch {
      Issue.record(error)
    }
    return index
  }

  /// Waits until all processes that write the lines have ended.
  func waitForEnd() async { _ = await wait(for: "", from: .max) }

  private func add(_ line: String) {
    // What the guard of transactions logs in a process of the service.
    if line.contains("waits for the storage") { Issue.record("\(line)") }
    let acts = state.withLock { state in
      let due = state.actions.indices.filter { state.actions[$0].times > 0 && line.contains(state.actions[$0].text) }
      for index in due { state.actions[index].times -= 1 }
      return due.map { state.actions[$0].act }
    }
    for act in acts { act() }
    state.withLock { $0.lines.append(line) }
  }

  private func end() { state.withLock { $0.hasEnded = true } }
}
