import FoundationEssentials
import Model
import Store

/// A run over stored media as the command line shows it.
struct ReprocessReport: Encodable {
  /// An item that failed.
  struct Failure: Encodable {
    let id: PublicID
    let error: String
  }

  let id: PublicID
  let state: ReprocessRun.State
  let local: Bool
  let items: ReprocessCounts
  let total: Int
  let createdAt: Date
  let endedAt: Date?
  var failures: [Failure]?

  init(_ run: ReprocessRun, _ counts: ReprocessCounts) {
    id = run.id
    state = run.state
    local = run.isLocal
    items = counts
    total = counts.total
    createdAt = run.createdAt
    endedAt = run.endedAt
  }

  /// What became of the items, in one line.
  static func text(_ counts: ReprocessCounts) -> String {
    let parts = [
      (counts.done, "made again"), (counts.skipped, "already as they should be"), (counts.failed, "failed"),
      (counts.cancelled, "cancelled"), (counts.begun, "begun"), (counts.waiting, "waiting"),
    ]
    let told = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return told.isEmpty ? "nothing" : told
  }

  /// In one line.
  var line: String {
    "\(id)  \(state.rawValue)\(local ? ", local" : "")  \(JSON.text(of: createdAt))  \(Self.text(items))"
  }

  /// With the reasons of some that failed.
  var text: String {
    ([line] + (failures ?? []).map { "  \($0.id): \($0.error)" }).joined(separator: "\n")
  }
}
