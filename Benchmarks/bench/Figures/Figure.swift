/// A number that is measured: its name for programs, what it says, and what it has to be.
struct Figure: Sendable, Hashable {
  let name: String
  /// For people, in a few words.
  let meaning: String
  /// Nil where there is nothing to be met.
  let goal: Goal?
  /// How many of them are worth telling.
  let decimals: Int

  init(_ name: String, _ meaning: String, _ goal: Goal? = nil, decimals: Int = 3) {
    self.name = name
    self.meaning = meaning
    self.goal = goal
    self.decimals = decimals
  }
}
