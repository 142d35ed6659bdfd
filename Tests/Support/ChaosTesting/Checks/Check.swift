/// One thing that must hold after every run, whatever was done to it.
package struct Check: Sendable {
  package let name: String
  /// What does not hold, one sentence each; empty when all is well.
  package let violations: @Sendable (Evidence) -> [String]

  /// All of them.
  package static let all: [Check] = [
    .nothingIsLost, .nothingIsTwice, .theCalendarIsKept, .effectsMatch, .attemptsDoNotOverlap, .nothingBeginsEarly,
    .whatWasSaidHolds, .theDeadHadTheirChance,
  ]

  /// The violations of all checks, each with its check's name.
  package static func violations(in evidence: Evidence) -> [String] {
    all.flatMap { check in check.violations(evidence).map { "\(check.name): \($0)" } }
  }
}
