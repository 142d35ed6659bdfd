import Testing

@testable import Queue

@Suite("Figures of a worker")
struct AttemptWindowTests {
  @Test("attempts of the last hour count by kind and result, unless they say nothing about the worker")
  func figures() {
    let window = AttemptWindow()
    let start = ContinuousClock.now
    window.record("post", outcome: "accepted", seconds: 100, at: start)
    for number in 1...20 {
      window.record(
        "post", outcome: number % 2 == 0 ? "accepted" : "rejected", seconds: Double(number), at: start + .seconds(1800))
    }
    for outcome in ["retried", "dead"] { window.record("image", outcome: outcome, seconds: 1, at: start + .seconds(1)) }
    for outcome in ["cancelled", "released", "lost", "lost", nil] {
      window.record("image", outcome: outcome, seconds: 900, at: start + .seconds(1))
    }
    window.record("look", outcome: "lost", seconds: 60, at: start + .seconds(1))
    #expect(window.figures(at: start + .seconds(3600)).kinds["post"]?.completed == 21)
    let later = window.figures(at: start + .seconds(3601))
    #expect(later.kinds["post"] == .init(completed: 20, failed: 0, p50: 10, p95: 19))
    #expect(later.kinds["image"] == .init(completed: 0, failed: 2, lost: 2, p50: 1, p95: 1))
    #expect(later.kinds["look"] == .init(completed: 0, failed: 0, lost: 1, p50: 0, p95: 0))
    #expect(window.figures(at: start + .seconds(5401)).kinds.isEmpty)
  }
}
