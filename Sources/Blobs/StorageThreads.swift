import Crypto
import Platform

/// Threads for calls that wait for a disk or for a store on another machine, and may wait without end: their callers wait on no
/// thread, and for a limited time.
///
/// The number of threads is limited. While the storage hangs, calls are refused at once: see `StorageCalls`.
final class StorageThreads: Sendable {
  /// A call that does not run yet.
  private struct Job: Sendable {
    /// Makes the call; returns how it has ended, and what notifies its callers.
    let run: @Sendable () -> (ending: StorageCalls.Ending, notify: @Sendable () -> Void)
    /// The scope of the task which makes the call.
    let scope = TaskScope.current
    let fail: @Sendable (BlobError) -> Void
  }

  private struct Shared {
    var calls: StorageCalls
    var waiting: [Int: Job] = [:]
  }

  private let name: String
  private let shared: Locked<Shared>

  /// - Parameters:
  ///   - name: the name of the threads.
  ///   - limit: the time after which a call hangs, unless others that began later have ended.
  init(name: String, threads: Int, maxWaiting: Int = 1024, limit: Duration) {
    self.name = name
    shared = Locked(Shared(calls: StorageCalls(threads: threads, maxWaiting: maxWaiting, limit: limit)))
  }

  /// Runs a call, and waits for it; throws `.unavailable` if it is refused, or has not ended in time.
  func run<Value: Sendable>(
    within timeout: Duration, _ work: @escaping @Sendable () throws(BlobError) -> Value
  ) async throws(BlobError) -> Value {
    let call = StorageCall<Value>()
    start(call, work)
    return try await call.value(within: timeout)
  }

  /// Starts a call; one that is refused has failed when this returns.
  func start<Value: Sendable>(
    _ call: StorageCall<Value>, _ work: @escaping @Sendable () throws(BlobError) -> Value
  ) {
    let job = Job {
      guard call.isAwaited else {
        return (.dropped, { call.end(.failure(.unavailable("the storage was busy for too long"))) })
      }
      do throws(BlobError) {
        let value = try work()
        return (.answered, { call.end(.success(value)) })
      } catch {
        let failure = error
        if case .unavailable = failure { return (.unanswered, { call.end(.failure(failure)) }) }
        return (.answered, { call.end(.failure(failure)) })
      }
    } fail: { error in
      call.end(.failure(error))
    }
    let admission = shared.withLock { shared in
      let admission = shared.calls.admit(at: .now)
      if case .wait(let number) = admission { shared.waiting[number] = job }
      return admission
    }
    switch admission {
    case .start(let number): startThread((number, job))
    case .wait: break
    case .refuse: job.fail(.unavailable("the storage does not answer"))
    }
  }

  private func startThread(_ first: (number: Int, job: Job)) {
    var next: (number: Int, job: Job)? = first
    while let (number, job) = next {
      do throws(SystemError) {
        return try NamedThread(name: name) { self.run((number, job)) }.detach()
      } catch {
        next = self.next(after: number, .dropped)
        job.fail(.system(error))
      }
    }
  }

  private func run(_ first: (number: Int, job: Job)) {
    var next: (number: Int, job: Job)? = first
    while let (number, job) = next {
      let (ending, notify) = TaskScope.$current.withValue(job.scope) { job.run() }
      // A caller that is notified makes its next call at once, which a storage that has answered must not be refused.
      next = self.next(after: number, ending)
      notify()
    }
  }

  private func next(after number: Int, _ ending: StorageCalls.Ending) -> (number: Int, job: Job)? {
    shared.withLock { shared in
      shared.calls.end(number, ending, at: .now).flatMap { next in
        shared.waiting.removeValue(forKey: next).map { (next, $0) }
      }
    }
  }
}

/// A call whose result several tasks may wait for, each for a time of its own.
final class StorageCall<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, BlobError>?
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The waiters whose time was over before they waited.
    var early: Set<Int> = []
    var last = 0
    /// Whether a task waits, or none has come yet.
    var isAwaited = true
  }

  private let state = Locked(State())
  private let onEnd: @Sendable () -> Void

  /// - Parameter onEnd: called before anybody sees the result, so that a task that has seen it starts the next call.
  init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

  /// Whether the result is of use to anybody.
  var isAwaited: Bool { state.withLock(\.isAwaited) }

  /// Waits for the result; throws `.unavailable` if it is not there in time.
  func value(within timeout: Duration) async throws(BlobError) -> Value {
    let number = state.withLock { state in
      state.last &+= 1
      return state.last
    }
    let timer = Task {
      do { try await Task.sleep(for: timeout) } catch { return }
      leave(number)
    }
    await withCheckedContinuation { continuation in
      let isWaiting = state.withLock { state in
        guard state.result == nil, state.early.remove(number) == nil else { return false }
        state.waiters[number] = continuation
        state.isAwaited = true
        return true
      }
      if !isWaiting { continuation.resume() }
    }
    timer.cancel()
    guard let result = state.withLock(\.result) else {
      throw .unavailable("the storage has not answered for \(timeout / .seconds(1)) s")
    }
    return try result.get()
  }

  /// Sets the result; called once.
  func end(_ result: Result<Value, BlobError>) {
    onEnd()
    let waiters = state.withLock { state in
      state.result = result
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  private func leave(_ number: Int) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: number)
      if waiter == nil { state.early.insert(number) }
      if state.waiters.isEmpty { state.isAwaited = false }
      return waiter
    }
    waiter?.resume()
  }
}
