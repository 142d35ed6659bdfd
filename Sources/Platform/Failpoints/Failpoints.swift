import Glibc

/// The failpoints of this process, from the environment variable `TAKE5_FAILPOINTS`, which is read once.
package enum Failpoints {
  package static let variable = "TAKE5_FAILPOINTS"

  private static let text = getenv(variable).map { String(cString: $0) } ?? ""
  private static let plan = Result { () throws(FailpointError) in try FailpointPlan(text) }
  private static let armed: ArmedFailpoints? =
    text.isEmpty ? nil : (try? plan.get()).map { ArmedFailpoints($0, perform: perform) }

  /// Whether the variable sets any rule.
  package static let areArmed = armed != nil

  /// Throws if the variable has a syntax error, or names an unknown point or action; call it at the start.
  ///
  /// - Parameter known: all failpoints of the program; they are listed only if the variable sets a rule, as that reads every statement.
  package static func check(_ known: @autoclosure () -> [Failpoint]) throws(FailpointError) {
    let plan = try plan.get()
    if areArmed { try plan.check(known()) }
  }

  /// Performs the actions due at a point; returns whether the caller must close its connection there.
  @discardableResult
  package static func pass(_ point: @autoclosure () -> String) -> Bool { armed?.pass(point()) ?? false }
}

// The signal goes to the calling thread, so that it executes nothing further; kill(2) might choose another (signal(7)).
private func perform(_ action: FailpointAction) {
  switch action {
  case .kill: _ = pthread_kill(pthread_self(), SIGKILL)
  case .stop: _ = pthread_kill(pthread_self(), SIGSTOP)
  case .pause(let milliseconds): usleep(UInt32(milliseconds) * 1000)
  case .cut: break
  }
}

/// An operation that a test can interrupt just before and just after: the points `<name>.before` and `<name>.after`.
///
/// Unless `TAKE5_FAILPOINTS` is set, it costs one load and one branch.
package struct Failpoint: Sendable, Hashable {
  /// The name of the operation: `blob.synchronize`, `queue.claim`.
  package let name: String
  /// Whether the operation has a connection that the action `cut` can close.
  package let isOnConnection: Bool

  package init(_ name: String, isOnConnection: Bool = false) {
    self.name = name
    self.isOnConnection = isOnConnection
  }

  /// The names of its two points.
  package var points: [String] { ["\(name).before", "\(name).after"] }

  /// Performs the operation between its points; the second point is not passed if it throws.
  @inline(__always)
  package func around<Result: ~Copyable, Failure: Error>(
    _ operation: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard Failpoints.areArmed else { return try operation() }
    Failpoints.pass("\(name).before")
    let result = try operation()
    Failpoints.pass("\(name).after")
    return result
  }
}

/// A plan and the number of passages of each point.
final class ArmedFailpoints: Sendable {
  private let plan: FailpointPlan
  private let passages = Locked<[String: Int]>([:])
  private let perform: @Sendable (FailpointAction) -> Void

  /// - Parameter perform: performs an action on the thread that passes the point.
  init(_ plan: FailpointPlan, perform: @escaping @Sendable (FailpointAction) -> Void) {
    self.plan = plan
    self.perform = perform
  }

  /// Performs the actions due at a point; returns whether the caller must close its connection there.
  func pass(_ point: String) -> Bool {
    guard let rules = plan.rules[point] else { return false }
    let passage = passages.withLock { passages in
      passages[point, default: 0] += 1
      return passages[point] ?? 0
    }
    let due = rules.filter { $0.passage == passage }.map(\.action)
    for action in due where action != .cut { perform(action) }
    return due.contains(.cut)
  }
}
