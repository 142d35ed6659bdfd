import Platform
import Testing

@Suite("Dedicated threads")
struct ThreadExecutorTests {
  private actor Counter {
    private let executor: ThreadExecutor
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init() throws { executor = try ThreadExecutor(name: "counter") }
    deinit { executor.stop() }

    func add() { count += 1 }
    var total: Int { count }
  }

  @Test("an executor with one thread serializes an actor")
  func serial() async throws {
    let counter = try Counter()
    await withTaskGroup { group in
      for _ in 0..<1000 { group.addTask { await counter.add() } }
    }
    #expect(await counter.total == 1000)
  }

  @Test("blocking work returns its value or throws its error")
  func blocking() async throws {
    #expect(try await onThread("test") { 42 } == 42)
    await #expect(throws: SystemError(call: "open", code: 1)) {
      try await onThread("test") { throw SystemError(call: "open", code: 1) }
    }
  }
}
