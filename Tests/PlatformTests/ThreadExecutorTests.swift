import Glibc
import Testing

@testable import Platform

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

  @Test("work that gives way leaves the priority of who waits for it, whose threads resume tasks")
  func givesWay() async throws {
    let value = { @Sendable in getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
    let executor = try ThreadExecutor(name: "nice", threads: 1)
    defer { executor.stop() }
    let (before, during, after) = await Task(executorPreference: executor) {
      (value(), givingWay("nice", value), value())
    }.value
    #expect(during > before && after == before)
    struct Failed: Error {}
    #expect(throws: Failed.self) { try givingWay("nice") { () throws(Failed) -> Int in throw Failed() } }
  }

  @Test("a list of jobs that never runs empty stores no jobs that have run")
  func bounded() {
    var jobs = JobList<Int>()
    jobs.append(0)
    for number in 1...10_000 {
      jobs.append(number)
      #expect(jobs.popFirst() == number - 1)
    }
    #expect(jobs.elements.count < 10 && !jobs.isEmpty)
  }

  private static func nothing() async {}

  @Test("a task runs until it waits: calls of asynchronous functions do not enqueue it behind others")
  func uninterrupted() async throws {
    let executor = try ThreadExecutor(name: "tasks", threads: 1)
    defer { executor.stop() }
    let recorder = try Recorder()
    let tasks = ["first", "second"].map { name in
      Task(executorPreference: executor) {
        // Both are enqueued before one runs.
        recorder.wait()
        recorder.record(name)
        for _ in 0..<10 { await Self.nothing() }
        recorder.record(name)
      }
    }
    recorder.start()
    for task in tasks { await task.value }
    #expect(recorder.names == ["first", "first", "second", "second"])
  }

  @Test("blocking work returns its value or throws its error")
  func blocking() async throws {
    #expect(try await onThread("test") { 42 } == 42)
    await #expect(throws: SystemError(call: "open", code: 1)) {
      try await onThread("test") { throw SystemError(call: "open", code: 1) }
    }
  }
}

/// The order in which tasks run, after a start that they wait for.
private final class Recorder: Sendable {
  private let started: Event
  private let order = Locked<[String]>([])

  init() throws { started = try Event() }

  var names: [String] { order.withLock { $0 } }

  func start() { started.signal() }

  func wait() { started.wait() }

  func record(_ name: String) { order.withLock { $0.append(name) } }
}
