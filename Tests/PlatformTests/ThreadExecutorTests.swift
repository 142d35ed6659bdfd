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

  private static func nothing() async {}

  @Test("a task runs until it waits: calls of asynchronous functions do not enqueue it behind others")
  func uninterrupted() async throws {
    let executor = try ThreadExecutor(name: "tasks", threads: 1)
    defer { executor.stop() }
    let order = Locked<[String]>([])
    let start = try Event()
    let tasks = ["first", "second"].map { name in
      Task(executorPreference: executor) {
        // Both are enqueued before one runs.
        start.wait()
        order.withLock { $0.append(name) }
        for _ in 0..<10 { await Self.nothing() }
        order.withLock { $0.append(name) }
      }
    }
    start.signal()
    for task in tasks { await task.value }
    #expect(order.withLock { $0 } == ["first", "first", "second", "second"])
  }

  @Test("blocking work returns its value or throws its error")
  func blocking() async throws {
    #expect(try await onThread("test") { 42 } == 42)
    await #expect(throws: SystemError(call: "open", code: 1)) {
      try await onThread("test") { throw SystemError(call: "open", code: 1) }
    }
  }
}
