/// The counts of a range of seeds.
package struct Tally: Codable, Sendable {
  /// The mutations that came to each stage or further, by its number, and those of each ending.
  package private(set) var counts: [String: Int] = [:]
  /// What must be looked into, with its seed.
  package private(set) var findings: [String] = []

  package init() {}

  package mutating func add(_ outcome: Outcome, seed: UInt64) {
    for depth in Outcome.Depth.allCases where depth.rawValue <= outcome.depth.rawValue {
      counts["depth \(depth.rawValue)", default: 0] += 1
    }
    counts[outcome.key, default: 0] += 1
    if let finding = outcome.finding { findings.append("seed \(seed): \(finding)") }
  }

  /// Adds a finding about a range.
  package mutating func add(finding: String) { findings.append(finding) }

  package mutating func merge(_ other: Tally) {
    counts.merge(other.counts, uniquingKeysWith: +)
    findings += other.findings
  }

  /// The number of mutations that came to a stage or further.
  package func count(reaching depth: Outcome.Depth) -> Int { counts["depth \(depth.rawValue)"] ?? 0 }

  /// The number of mutations.
  package var total: Int { count(reaching: .submitted) }

  /// The endings with their numbers, the most frequent first.
  package func endings(_ prefix: String) -> [(name: String, count: Int)] {
    counts.filter { $0.key.hasPrefix(prefix) }.map { (String($0.key.dropFirst(prefix.count)), $0.value) }
      .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
  }
}
