import PostgresTesting
import Testing

@testable import Worker

@Suite("Isolation", .timeLimit(.minutes(1)))
struct IsolationTests {
  @Test("attempts work beside each other, one alone waits for them, and who comes later waits for it")
  func order() async {
    let isolation = Isolation()
    let seen = Shared<[String]>([])
    await isolation.enter(alone: false)
    await isolation.enter(alone: false)
    // Each runs at once until it waits.
    let alone = Task.immediate {
      await isolation.enter(alone: true)
      seen.withLock { $0.append("alone begins") }
      await Task.yield()
      seen.withLock { $0.append("alone ends") }
      isolation.leave()
    }
    let later = Task.immediate {
      await isolation.enter(alone: false)
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
}
