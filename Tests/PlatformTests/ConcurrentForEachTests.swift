import Platform
import Testing

@Suite("Elements that are transformed at the same time", .timeLimit(.minutes(60)))
struct ConcurrentForEachTests {
  /// Lets every caller wait for another one.
  private actor Rendezvous {
    private var waiter: CheckedContinuation<Void, Never>?
    private var present = 0
    private(set) var most = 0

    func meet() async {
      present += 1
      most = max(most, present)
      if let waiter {
        self.waiter = nil
        waiter.resume()
      } else {
        await withCheckedContinuation { waiter = $0 }
      }
      present -= 1
    }
  }

  @Test("as many as the limit are transformed at the same time, and every result is received once")
  func limit() async throws {
    let rendezvous = Rendezvous()
    var squares: [Int: Int] = [:]
    try await (0..<6).forEach(concurrently: 2) { number in
      await rendezvous.meet()
      return number * number
    } receive: { number, square in
      #expect(squares.updateValue(square, forKey: number) == nil)
    }
    #expect(squares == [0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25])
    #expect(await rendezvous.most == 2)
  }

  @Test("an error ends the transformation of the others, and no more start")
  func failure() async throws {
    let started = Locked(0)
    await #expect(throws: SystemError(call: "open", code: 1)) {
      try await (0..<100).forEach(concurrently: 2) { number in
        started.withLock { $0 += 1 }
        if number == 1 { throw SystemError(call: "open", code: 1) }
        try await Task.sleep(for: .seconds(3600))
      } receive: { _, _ in
      }
    }
    #expect(started.withLock(\.self) == 2)
  }
}
