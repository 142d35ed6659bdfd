/// A plan and how often each of its points was passed.
final class ArmedFailpoints: Sendable {
  private let plan: FailpointPlan
  private let passages = Locked<[String: Int]>([:])
  private let act: @Sendable (FailpointAction) -> Void

  /// - Parameter act: carries out what is due, on the thread that passes the point.
  init(_ plan: FailpointPlan, act: @escaping @Sendable (FailpointAction) -> Void) {
    self.plan = plan
    self.act = act
  }

  /// Passes a point; whether the connection is to be cut there.
  func pass(_ point: String) -> Bool {
    guard let rules = plan.rules[point] else { return false }
    let passage = passages.withLock { passages in
      passages[point, default: 0] += 1
      return passages[point] ?? 0
    }
    let due = rules.filter { $0.passage == passage }.map(\.action)
    for action in due where action != .cut { act(action) }
    return due.contains(.cut)
  }
}
