import PostgresTesting
import Testing

@testable import Worker

@Suite("Isolation", .timeLimit(.minutes(60)))
struct IsolationTests {
  @Test("attempts run at the same time, an isolated one waits for them, and a later one waits for the isolated one")
  func order() async {
    let isolation = Isolation()
    let seen = Shared<[String]>([])
    for _ in 0..<2 {
      let mayStart = await isolation.enter(alone: false, within: .seconds(60))
      #expect(mayStart)
    }
    // Each task runs immediately until it suspends.
    let alone = Task.immediate {
      _ = await isolation.enter(alone: true, within: .seconds(60))
      seen.withLock { $0.append("alone started") }
      await Task.yield()
      seen.withLock { $0.append("alone ended") }
      isolation.leave()
    }
    let later = Task.immediate {
      _ = await isolation.enter(alone: false, within: .seconds(60))
      seen.withLock { $0.append("later") }
      isolation.leave()
    }
    isolation.leave()
    #expect(seen.withLock { $0 }.isEmpty)
    seen.withLock { $0.append("both left") }
    isolation.leave()
    await alone.value
    await later.value
    #expect(seen.withLock { $0 } == ["both left", "alone started", "alone ended", "later"])
  }

  @Test("an isolated attempt that waits too long gives up, and the attempts behind it start")
  func givingUp() async throws {
    let (isolation, clock) = (Isolation(), TestClock())
    _ = await isolation.enter(alone: false, within: .seconds(60), by: clock)
    let alone = Task.immediate { await isolation.enter(alone: true, within: .seconds(20), by: clock) }
    let behind = Task.immediate { await isolation.enter(alone: false, within: .seconds(60), by: clock) }
    try await clock.sleepers(for: .seconds(20))
    #expect(isolation.isReserved)
    clock.advance(by: .seconds(20))
    let (first, second) = (await alone.value, await behind.value)
    #expect(!first && second)
    for _ in 0..<2 { isolation.leave() }
    let last = await isolation.enter(alone: true, within: .seconds(60), by: clock)
    #expect(last)
  }

  @Test("an attempt whose time is over before it waits gives up")
  func late() async {
    let isolation = Isolation()
    _ = await isolation.enter(alone: false, within: .seconds(60))
    for _ in 0..<500 {
      let entered = await isolation.enter(alone: true, within: .zero)
      #expect(!entered)
    }
  }
}
