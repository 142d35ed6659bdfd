import Crypto
import Testing

@testable import Blobs

@Suite("Scrub queue")
struct ScrubQueueTests {
  private static func hash(_ number: UInt8) -> SHA256Digest { SHA256.digest(of: [number]) }

  @Test("a blob is enqueued once within the interval, and again if it is suspect")
  func once() async {
    let queue = ScrubQueue()
    for _ in 0..<3 { queue.offer(Self.hash(1), bytes: 1) }
    queue.offer(Self.hash(2), bytes: 2)
    #expect(await queue.take() == ScrubQueue.Item(hash: Self.hash(1), bytes: 1))
    #expect(await queue.take() == ScrubQueue.Item(hash: Self.hash(2), bytes: 2))
    queue.offer(Self.hash(1), bytes: 1)
    for _ in 0..<3 { queue.offer(Self.hash(2), bytes: 2, isSuspect: true) }
    queue.offer(Self.hash(3), bytes: 3)
    #expect(await queue.take()?.hash == Self.hash(2))
    #expect(await queue.take()?.hash == Self.hash(3))
  }

  @Test("a full queue drops blobs, and accepts them when they are offered later")
  func bounded() async {
    let queue = ScrubQueue(capacity: 2)
    for number: UInt8 in 1...5 { queue.offer(Self.hash(number), bytes: 1) }
    #expect(await queue.take()?.hash == Self.hash(1))
    queue.offer(Self.hash(5), bytes: 1)
    #expect(await queue.take()?.hash == Self.hash(2))
    #expect(await queue.take()?.hash == Self.hash(5))
  }

  @Test("a waiting task is woken by the next blob and by closing the queue")
  func waits() async {
    let queue = ScrubQueue()
    async let first = queue.take()
    queue.offer(Self.hash(1), bytes: 1)
    let taken = await first
    #expect(taken?.hash == Self.hash(1))
    async let last = queue.take()
    queue.close()
    let none = await last
    #expect(none == nil)
    queue.offer(Self.hash(2), bytes: 1)
    #expect(await queue.take() == nil)
  }

  @Test("a blob is remembered for at least the interval and at most twice as long")
  func remembered() {
    let start = ContinuousClock.now
    var recent = RecentSet<SHA256Digest>(interval: .seconds(10), maxCount: 100, now: start)
    let known = [(1, 9), (1, 11), (1, 19), (1, 22), (2, 23), (1, 60)].map { number, seconds in
      recent.note(Self.hash(number), now: start + .seconds(seconds))
    }
    #expect(known == [false, true, true, false, false, false])
  }

  @Test("the memory is bounded, and the oldest blobs are removed first")
  func bound() {
    let now = ContinuousClock.now
    var recent = RecentSet<SHA256Digest>(interval: .seconds(10), maxCount: 2, now: now)
    let known = [1, 2, 3, 4, 5, 3, 1].map { recent.note(Self.hash($0), now: now) }
    #expect(known == [false, false, false, false, false, true, false])
  }
}
