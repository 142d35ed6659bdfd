import Testing

@testable import Model

@Suite("Refresh tokens of a session")
struct RefreshChainTests {
  @Test(
    "the current token renews, the one before repeats within the grace, and every other one ends the session",
    arguments: [
      (token: UInt8(2), age: 0.0, step: RefreshChain.Step.renewal), (2, 1_000_000, .renewal), (1, 0, .repetition),
      (1, 29.9, .repetition), (1, 30, .end), (0, 0, .end), (3, 0, .end),
    ])
  func steps(token: UInt8, age: Double, step: RefreshChain.Step) {
    #expect(RefreshChain(current: [2], former: [1], age: age).step(after: [token]) == step)
  }

  @Test("of a session that was never renewed only one token is known")
  func first() {
    let chain = RefreshChain(current: [2], former: nil, age: 0)
    #expect(chain.step(after: [2]) == .renewal && chain.step(after: [1]) == .end)
  }
}
