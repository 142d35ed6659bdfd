import Testing

@testable import Kit
@testable import Rooms

@Suite("Subscriptions", .timeLimit(.minutes(60)))
struct SubscriptionsTests {
  @Test("a run that is cancelled does not wait for its next poll")
  func cancelled() async {
    let subscriptions = Subscriptions<Int, Int>(pollInterval: .seconds(3600))
    let run = Task { await subscriptions.run { _ in } }
    await Task.yield()
    run.cancel()
    await run.value
  }

  @Test("a change of a key with subscribers is handled once, and one of another key is not")
  func changed() async {
    let subscriptions = Subscriptions<Int, Int>(pollInterval: .seconds(3600))
    let subscription = subscriptions.add(7, to: 1)
    defer { subscription.cancel() }
    let (keys, handled) = AsyncStream.makeStream(of: [Int].self)
    let run = Task { await subscriptions.run { handled.yield($0) } }
    subscriptions.reportChange(of: 2)
    subscriptions.reportChange(of: 1)
    var found = keys.makeAsyncIterator()
    #expect(await found.next() == [1])
    run.cancel()
    await run.value
    handled.finish()
    #expect(await found.next() == nil)
  }
}
