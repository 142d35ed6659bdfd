import PostgresTesting
import Testing

@testable import Worker

@Suite("Isolation", .timeLimit(.minutes(1)))
struct IsolationTests {
  @Test("attempts work beside each other, one alone waits for them, and who comes later waits for it")
  func order() async {
    let isolation = Isolation()
    let seen = Shared<[String]>([])
    for _ in 0..<2 {
      let mayBegin = await isolation.enter(alone: false, within: .seconds(60))
      #expect(mayBegin)
    }
    // Each runs at once until it waits.
    let alone = Task.immediate {
      _ = await isolation.enter(alone: true, within: .seconds(60))
      seen.withLock { $0.append("alone begins") }
      await Task.yield()
      seen.withLock { $0.append("alone ends") }
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
    #expect(seen.withLock { $0 } == ["both left", "alone begins", "alone ends", "later"])
  }

  @Test("one that waits too long to be alone gives up, and who waits behind it goes on")
  func givingUp() async {
    let isolation = Isolation()
    _ = await isolation.enter(alone: false, within: .seconds(60))
    let alone = Task.immediate { await isolation.enter(alone: true, within: .milliseconds(20)) }
    let behind = Task.immediate { await isolation.enter(alone: false, within: .seconds(60)) }
    let (first, second) = (await alone.value, await behind.value)
    #expect(!first && second)
    for _ in 0..<2 { isolation.leave() }
    let last = await isolation.enter(alone: true, within: .seconds(60))
    #expect(last)
  }
}
