import Integrity
import Platform

/// A bar for each step of something long, one after the other.
final class StageProgress: Sendable {
  private let current = Locked<(stage: VerifyStage, bar: ProgressBar)?>(nil)

  /// Shows how far a step has come, 0 to 1.
  func show(_ stage: VerifyStage, _ fraction: Double) {
    let (bar, over) = current.withLock { current -> (ProgressBar, ProgressBar?) in
      if let current, current.stage == stage { return (current.bar, nil) }
      let over = current?.bar
      let bar = ProgressBar("verifying \(stage.rawValue)")
      current = (stage, bar)
      return (bar, over)
    }
    over?.clear()
    bar.show(fraction)
  }

  /// Takes the bar away.
  func clear() { current.withLock { $0?.bar }?.clear() }
}
