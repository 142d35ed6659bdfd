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
    #expect(RefreshChain(current: [2], former: [1], age: age, isUsed: true).step(after: [token]) == step)
  }

  @Test("until a token of the last renewal is used, the one before repeats it")
  func unused() {
    let chain = RefreshChain(current: [2], former: [1], age: 1_000_000, isUsed: false)
    #expect(
      chain.step(after: [2]) == .renewal && chain.step(after: [1]) == .repetition && chain.step(after: [0]) == .end)
  }

  @Test("of a session that was never renewed only one token is known")
  func first() {
    let chain = RefreshChain(current: [2], former: nil, age: 0, isUsed: false)
    #expect(chain.step(after: [2]) == .renewal && chain.step(after: [1]) == .end)
  }
}
