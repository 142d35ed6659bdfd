import Model

/// All that is known of a run: what its processes wrote down, and what the database holds.
package struct Evidence: Sendable {
  package var ledger: [LedgerEntry] = []
  package var orders: [JobOrder] = []
  package var fates: [JobFate] = []
  package var effects: [JobEffect] = []
  package var passages: [Passage] = []
  /// How many times of the calendar were due.
  package var firings = 0
  /// The process of each worker, by the worker's id.
  package var processes: [Int64: Int32] = [:]

  package init() {}
}
