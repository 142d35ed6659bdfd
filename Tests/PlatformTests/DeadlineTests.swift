import Platform
import Testing
import WaitTesting

@Suite("Waits of tests")
struct DeadlineTests {
  @Test("a wait for what never comes ends, and the error names the place and what was awaited")
  func never() async {
    // Outside of the macro, whose line would be that of the wait.
    func wait() async throws { try await until(within: .zero) { "it" == "there" } }
    let error = await #expect(throws: NeverCame.self) { try await wait() }
    let text = "\(String(describing: error))"
    #expect(text.contains("DeadlineTests.swift:") && text.contains(#""it" == "there""#), "\(text)")
    let named = #expect(throws: NeverCame.self) { try Deadline("a train", within: .zero).check() }
    #expect("\(String(describing: named))".contains("a train"))
  }

  @Test("a wait ends with the time limit of its test, which cancels it")
  func cancelled() async {
    let waiting = Task { try await until { false } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test("a wait ends when the condition holds")
  func holds() async throws {
    var rounds = 0
    try await until {
      rounds += 1
      return rounds == 3
    }
    #expect(rounds == 3)
  }
}
