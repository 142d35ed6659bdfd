import Glibc
import Platform

/// The end of a wait for what may never come, so that a run of tests ends.
///
/// It measures nothing: the time is many times what the wait takes, and longer on a busy machine.
package struct Deadline: Sendable {
  /// What a wait of a test takes at most.
  package static let usual: Duration = .seconds(120)

  private let awaited: String?
  private let start = ContinuousClock.now
  private let time: Duration
  private let file: String
  private let line: Int

  /// - Parameter awaited: what is waited for; nil: what the source says there.
  package init(_ awaited: String? = nil, within time: Duration = usual, file: String = #filePath, line: Int = #line) {
    self.awaited = awaited
    self.time = time
    self.file = file
    self.line = line
  }

  /// - Throws: `CancellationError` after the time limit of the test, `NeverCame` after the deadline.
  package func check() throws {
    try Task.checkCancellation()
    let waited = start.duration(to: .now)
    guard waited > time, waited > time * Self.load else { return }
    throw NeverCame(awaited: awaited ?? source, place: "\(file):\(line)", waited: waited)
  }

  /// The processes that want a core, for each core; 1 if there are fewer.
  private static var load: Double {
    var average = 0.0
    guard getloadavg(&average, 1) == 1 else { return 1 }
    return max(1, average / Double(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  private var source: String {
    let text = try? String(decoding: Descriptor(reading: file).contents(), as: UTF8.self)
    let lines = text?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
    return lines.indices.contains(line - 1) ? lines[line - 1].drop { $0 == " " }.description : "a condition"
  }
}

/// What a test waited for in vain.
package struct NeverCame: Error, CustomStringConvertible {
  fileprivate let awaited: String
  fileprivate let place: String
  fileprivate let waited: Duration

  package var description: String {
    "\(place): waited for \(Int(waited / .seconds(1))) s, and gave up: \(awaited)"
  }
}
