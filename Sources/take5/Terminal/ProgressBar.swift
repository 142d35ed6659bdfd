import Integrity
import Platform

/// A progress bar on standard error; prints nothing if that is not a terminal.
final class ProgressBar: Sendable {
  /// The shown text, and since when.
  private struct Shown {
    var text: String
    var time: Duration
  }

  /// The time between two changes of the line.
  private static let interval = Duration.milliseconds(100)

  private let title: String
  private let estimates: Bool
  private let isShown = Console.isErrorTerminal
  private let start = ContinuousClock().now
  private let shown = Locked<Shown?>(nil)

  /// - Parameter estimates: whether the bar estimates the remaining time.
  init(_ title: String, estimates: Bool = true) {
    self.title = title
    self.estimates = estimates
  }

  /// Shows the progress as a fraction from 0 to 1.
  func show(_ fraction: Double, stage: String = "") {
    guard isShown else { return }
    let elapsed = start.duration(to: ContinuousClock().now)
    shown.withLock { shown in
      if let shown, elapsed - shown.time < Self.interval { return }
      let text = Self.text(
        title: title, fraction: fraction, stage: stage, elapsed: estimates ? elapsed : nil, width: Console.width(of: 2))
      guard text != shown?.text else { return }
      shown = Shown(text: text, time: elapsed)
      Console.writeError("\r\u{1B}[K" + text)
    }
  }

  /// Erases the bar, so that the next output starts on an empty line.
  func clear() {
    shown.withLock { shown in
      if shown != nil { Console.writeError("\r\u{1B}[K") }
      shown = nil
    }
  }

  /// Writes a line in the place of the bar, which may be another one; also if standard error is not a terminal.
  func note(_ line: String) {
    shown.withLock { $0 = nil }
    Console.note(isShown ? "\r\u{1B}[K" + line : line)
  }

  /// Returns a line of less than `width` characters, such as
  /// `composing  [##########··········]  50 %  compose  2 s left`.
  ///
  /// - Parameter elapsed: the time since the start, from which the remaining time follows; nil: it is not shown.
  static func text(title: String, fraction: Double, stage: String, elapsed: Duration?, width: Int = 80) -> String {
    let fraction = min(max(fraction, 0), 1)
    let percent = String(Int(fraction * 100))
    let padded = String(repeating: " ", count: 3 - min(3, percent.count)) + percent
    var more = stage.isEmpty ? "" : "  \(stage)"
    if let elapsed, fraction > 0.05 && fraction < 1 {
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
