import Model
import Platform
import Queue

/// Jobs on standard output as they change: lines that are drawn anew for a person, else a line for each change.
final class JobView: Sendable {
  private let json: Bool
  private let redraws: Bool
  private let state = Locked(State())

  private struct State {
    var known: [PublicID: String] = [:]
    var drawn = 0
  }

  /// - Parameter redraws: whether a person looks; JSON is never redrawn.
  init(json: Bool, redraws: Bool) {
    self.json = json
    self.redraws = redraws && !json
  }

  /// Shows how jobs stand now; of a list the first `most`.
  func show(_ jobs: [JobRecord], _ depths: [QueueDepth], most: Int) throws {
    let reports = jobs.map(JobReport.init)
    if redraws {
      let summary =
        depths.isEmpty
        ? []
        : QueueReport(
          depths: depths, hour: [], day: [], workers: [], health: QueueHealth(holders: [], tables: [])
        ).depthLines + [""]
      try draw(summary + JobReport.lines(Array(reports.prefix(most))))
    } else {
      try tell(reports)
    }
  }

  private func draw(_ lines: [String]) throws(CommandFailure) {
    let width = Console.width(of: 1)
    let text = state.withLock { state in
      defer { state.drawn = lines.count }
      return Self.redrawing(state.drawn, with: lines, width: width)
    }
    try Console.write(text)
  }

  /// What brings the cursor back over the lines drawn before and writes new ones, none longer than the terminal; pure.
  static func redrawing(_ drawn: Int, with lines: [String], width: Int) -> String {
    (drawn > 0 ? "\u{1B}[\(drawn)A\u{1B}[J" : "") + lines.map { $0.prefix(width) + "\n" }.joined()
  }

  private func tell(_ reports: [JobReport]) throws {
    // The oldest first, as they happened.
    for report in reports.sorted(by: { $0.id < $1.id }) {
      let line = report.line
      let isNew = state.withLock { state in state.known.updateValue(line, forKey: report.id) != line }
      if isNew { try Console.print(json ? try JSON.text(report) : line) }
    }
  }
}
