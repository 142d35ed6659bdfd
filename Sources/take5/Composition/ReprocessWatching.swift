import Model
import Platform
import Postgres
import Store

/// Looks at a run until it is over, and shows how far it has come; the run does not depend on it.
struct ReprocessWatching: Sendable {
  let pool: Pool
  let store: Store

  /// How it ended, or stood when the signal came.
  ///
  /// - Parameter stop: ends the looking, never the run.
  func run(_ id: PublicID, until stop: CancellationFlag) async throws -> (run: ReprocessRun, counts: ReprocessCounts) {
    let bar = ProgressBar("reprocessing")
    let began = ContinuousClock.now
    var first: Int?
    while true {
      let (run, counts) = try await look(id)
      let over = counts.over - (first ?? counts.over)
      first = first ?? counts.over
      let seconds = began.duration(to: .now) / .seconds(1)
      let rate = seconds > 1 ? Double(over) / seconds : 0
      bar.show(
        counts.total == 0 ? 1 : Double(counts.over) / Double(counts.total),
        stage: "\(counts.over) of \(counts.total), \(Self.text(rate))/s, \(counts.failed) failed"
          + (run.state == .paused ? ", paused" : ""))
      if run.state.isOver && counts.begun == 0 || stop.isCancelled {
        bar.clear()
        return (run, counts)
      }
      try? await Task.sleep(for: .milliseconds(counts.total > 100_000 ? 2000 : 300))
    }
  }

  /// A run and its counts as of one moment; waits for a database that is away.
  private func look(_ id: PublicID) async throws -> (ReprocessRun, ReprocessCounts) {
    try await pool.run(timeout: .seconds(60)) { session in
      try session.snapshot { session in
        guard let run = try store.run(id, session) else { throw Subcommand.noRun(id) }
        return (run, try store.counts(of: run, session))
      }
    }
  }

  private static func text(_ rate: Double) -> String {
    rate >= 10 ? "\(Int(rate.rounded()))" : "\((rate * 10).rounded() / 10)"
  }
}
