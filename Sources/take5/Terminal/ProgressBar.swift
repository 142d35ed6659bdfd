import Integrity
import Platform

/// A progress bar on standard error; prints nothing if that is not a terminal.
final class ProgressBar: Sendable {
  private let title: String
  private let isShown = Console.isErrorTerminal
  private let start = ContinuousClock().now
  private let last = Locked<Int?>(nil)

  init(_ title: String) { self.title = title }

  /// Shows the progress as a fraction from 0 to 1.
  func show(_ fraction: Double, stage: String = "") {
    guard isShown else { return }
    let elapsed = start.duration(to: ContinuousClock().now)
    let permille = Int(min(max(fraction, 0), 1) * 1000)
    let changed = last.withLock { last in
      defer { last = permille }
      return last != permille
    }
    guard changed else { return }
    let text = Self.text(title: title, fraction: fraction, stage: stage, elapsed: elapsed, width: Console.width(of: 2))
    Console.writeError("\r\u{1B}[K" + text)
  }

  /// Erases the bar, so that the next output starts on an empty line.
  func clear() {
    guard isShown, last.withLock({ $0 != nil }) else { return }
    Console.writeError("\r\u{1B}[K")
  }

  /// Returns a line of less than `width` characters, such as
  /// `composing  [##########··········]  50 %  compose  2 s left`.
  static func text(title: String, fraction: Double, stage: String, elapsed: Duration, width: Int = 80) -> String {
    let fraction = min(max(fraction, 0), 1)
    let percent = String(Int(fraction * 100))
    let padded = String(repeating: " ", count: 3 - min(3, percent.count)) + percent
    var more = stage.isEmpty ? "" : "  \(stage)"
    if fraction > 0.05 && fraction < 1 {
      let left = Int((elapsed / .seconds(1)) * (1 - fraction) / fraction + 0.5)
      more += "  \(left) s left"
    }
    // A full line wraps in some terminals. The bar gets shorter first, then the text after it.
    let room = width - 1 - "\(title)  [] \(padded) %\(more)".count
    let cells = min(24, room)
    guard cells >= 4 else { return String("\(title) \(padded) %\(more)".prefix(max(width - 1, 0))) }
    let filled = Int(fraction * Double(cells))
    let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: cells - filled)
    return "\(title)  [\(bar)] \(padded) %\(more)"
  }
}

/// The progress bars of a verification, one for each stage, one after another.
final class StageProgress: Sendable {
  private let current = Locked<(stage: VerifyStage, bar: ProgressBar)?>(nil)

  /// Shows the progress of a stage as a fraction from 0 to 1.
  func show(_ stage: VerifyStage, _ fraction: Double) {
    let (bar, finished) = current.withLock { current -> (ProgressBar, ProgressBar?) in
      if let current, current.stage == stage { return (current.bar, nil) }
      let finished = current?.bar
      let bar = ProgressBar("verifying \(stage.rawValue)")
      current = (stage, bar)
      return (bar, finished)
    }
    finished?.clear()
    bar.show(fraction)
  }

  /// Erases the bar.
  func clear() { current.withLock { $0?.bar }?.clear() }
}
