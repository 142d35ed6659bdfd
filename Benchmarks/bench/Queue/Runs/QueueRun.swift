/// What one run gave: the results by the contestants' names.
struct QueueRun: Sendable {
  var results: [String: QueueResult] = [:]
  /// How long our claims took, in milliseconds, with a thousand jobs waiting.
  var claimsOfThousand = Statistics([0])
  /// With a million.
  var claimsOfMillion = Statistics([0])

  subscript(_ contestant: QueueContestant) -> QueueResult {
    get { results[contestant.name] ?? QueueResult() }
    set { results[contestant.name] = newValue }
  }
}
