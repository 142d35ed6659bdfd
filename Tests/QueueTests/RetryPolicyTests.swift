import Queue
import Testing

@Suite("Retry policy")
struct RetryPolicyTests {
  let policy = RetryPolicy(firstPause: 1, maxPause: 60)

  @Test("pauses double up to the longest", arguments: [(1, 1.0), (2, 2), (3, 4), (6, 32), (7, 60), (30, 60)])
  func doubling(attempt: Int, seconds: Double) {
    #expect(policy.next(attempt: attempt, maxAttempts: 99, random: 0.5) == .retry(seconds: seconds))
  }

  @Test("chance spreads a pause from half to one and a half of it")
  func spread() {
    #expect(policy.next(attempt: 3, maxAttempts: 5, random: 0) == .retry(seconds: 2))
    #expect(policy.next(attempt: 3, maxAttempts: 5, random: 1) == .retry(seconds: 6))
  }

  @Test("the last attempt is the last")
  func last() {
    #expect(policy.next(attempt: 5, maxAttempts: 5, random: 0.5) == .bury)
  }
}
