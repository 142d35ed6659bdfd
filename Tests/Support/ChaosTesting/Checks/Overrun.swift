/// How long handlers went on after their attempt had lost its authority.
package struct Overrun: Sendable, Hashable {
  /// Of processes that were frozen or were starved at that time: they could not know.
  package let frozen: Int
  /// Of processes that nobody kept from running.
  package let awake: Int
  /// The longest of an awake process, in seconds.
  package let longest: Double

  package init(_ evidence: Evidence) {
    let attempts = Attempt.all(evidence.passages, fates: evidence.fatesByJob)
    var ends: [Int64: Int64] = [:]
    for attempt in attempts.values.joined() where attempt.ending != .itself { ends[attempt.token] = attempt.endedAt }
    var freezes: [Int32: [Int64]] = [:]
    for entry in evidence.ledger {
      if case .fault(.freeze, let process) = entry.event { freezes[process, default: []].append(entry.moment.wall) }
    }
    var frozen = 0
    var awake: [Double] = []
    for entry in evidence.ledger {
      guard case .left(_, let token) = entry.event, let end = ends[token], entry.moment.wall > end else { continue }
      if freezes[entry.process]?.contains(where: { $0 < end }) == true {
        frozen += 1
      } else {
        awake.append(Double(entry.moment.wall - end) / 1e6)
      }
    }
    self.frozen = frozen
    self.awake = awake.count
    longest = awake.max() ?? 0
  }
}
