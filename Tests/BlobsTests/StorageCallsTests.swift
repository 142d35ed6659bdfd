import Testing

@testable import Blobs

@Suite("Calls to a storage")
struct StorageCallsTests {
  private static let start = ContinuousClock.now

  private static func time(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  private static func calls(threads: Int, maxWaiting: Int = 2) -> StorageCalls {
    StorageCalls(threads: threads, maxWaiting: maxWaiting, limit: .seconds(10))
  }

  @Test("calls beyond the threads wait in their order, and beyond that are refused")
  func queue() {
    var calls = Self.calls(threads: 2)
    let admitted = (0..<5).map { _ in calls.admit(at: Self.time(0)) }
    #expect(admitted == [.start(1), .start(2), .wait(3), .wait(4), .refuse])
    #expect(calls.end(2, .answered, at: Self.time(1)) == 3)
    #expect(calls.end(3, .dropped, at: Self.time(1)) == 4)
    #expect(calls.end(1, .answered, at: Self.time(2)) == nil)
    #expect(calls.end(4, .answered, at: Self.time(2)) == nil)
    #expect(calls.admit(at: Self.time(2)) == .start(5))
  }

  @Test("while the storage hangs one call at a time asks whether it answers, and others are refused at once")
  func hangs() {
    var calls = Self.calls(threads: 3)
    #expect(calls.admit(at: Self.time(0)) == .start(1))
    #expect(calls.admit(at: Self.time(10)) == .start(2))
    #expect(calls.admit(at: Self.time(11)) == .refuse)
    // The second hangs too: there is one thread left.
    #expect(calls.admit(at: Self.time(20)) == .start(3))
    #expect(calls.admit(at: Self.time(40)) == .refuse)
    // It answers again.
    #expect(calls.end(1, .answered, at: Self.time(50)) == nil)
    #expect(calls.admit(at: Self.time(50)) == .start(4))
    #expect(calls.end(2, .answered, at: Self.time(50)) == nil)
    #expect(calls.end(3, .answered, at: Self.time(50)) == nil)
    #expect((0..<2).map { _ in calls.admit(at: Self.time(50)) } == [.start(5), .start(6)])
  }

  @Test("a call that takes long while later ones are answered is no storage that hangs")
  func slow() {
    var calls = Self.calls(threads: 3)
    #expect(calls.admit(at: Self.time(0)) == .start(1))
    #expect(calls.admit(at: Self.time(5)) == .start(2))
    #expect(calls.end(2, .answered, at: Self.time(6)) == nil)
    #expect((0..<2).map { _ in calls.admit(at: Self.time(20)) } == [.start(3), .start(4)])
    #expect(calls.admit(at: Self.time(21)) == .wait(5))
  }

  @Test("a storage that fails after a while is asked by one call at a time; one that refuses at once holds no thread")
  func fails() {
    var calls = Self.calls(threads: 3)
    #expect(calls.admit(at: Self.time(0)) == .start(1))
    #expect(calls.end(1, .unanswered, at: Self.time(0.1)) == nil)
    #expect((0..<2).map { _ in calls.admit(at: Self.time(1)) } == [.start(2), .start(3)])
    #expect(calls.end(2, .unanswered, at: Self.time(3)) == nil)
    #expect(calls.end(3, .unanswered, at: Self.time(3)) == nil)
    #expect((0..<2).map { _ in calls.admit(at: Self.time(4)) } == [.start(4), .refuse])
    #expect(calls.end(4, .answered, at: Self.time(5)) == nil)
    #expect((0..<2).map { _ in calls.admit(at: Self.time(6)) } == [.start(5), .start(6)])
  }
}

@Suite("Threads for calls to a storage")
struct StorageThreadsTests {
  @Test("who is notified of the end of a call makes the next one")
  func inSequence() async throws {
    let threads = StorageThreads(name: "calls", threads: 1, maxWaiting: 0, limit: .seconds(3600))
    for number in 0..<500 {
      #expect(try await threads.run(within: .seconds(600)) { () throws(BlobError) in number } == number)
    }
  }
}
