/// Runs over all kinds at once, one for each.
struct ReprocessRound: Sendable {
  /// What must become of every item.
  enum Outcome: Sendable {
    case done, skipped
  }

  let title: String
  let words: [String]
  let outcome: Outcome

  /// By workers, under a changed definition.
  static let changed = ReprocessRound(title: "changed", words: [], outcome: .done)
  /// By the command itself, although nothing changes.
  static let local = ReprocessRound(title: "local", words: ["--force", "--local", "--slots", "1"], outcome: .done)
  /// By workers, who find that nothing changes.
  static let again = ReprocessRound(title: "again", words: [], outcome: .skipped)
  /// By workers, although nothing changes.
  static let forced = ReprocessRound(title: "forced", words: ["--force"], outcome: .done)

  /// Those that every storm has, and one more as often as is needed until enough was killed.
  static let usual = [changed, local, again]
}
