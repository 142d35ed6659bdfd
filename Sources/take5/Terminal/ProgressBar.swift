import Platform

/// A bar on standard error that shows how far something has come; silent where no person reads it.
final class ProgressBar: Sendable {
  private let title: String
  private let shown: Bool
  private let start = ContinuousClock().now
  private let last = Locked<Int?>(nil)

  /// - Parameter shown: normally whether standard error is a terminal.
  init(_ title: String, shown: Bool = Console.isTerminal) {
    self.title = title
    self.shown = shown
  }

  /// Shows a new state, 0 to 1.
  func show(_ fraction: Double, stage: String = "") {
    guard shown else { return }
    let elapsed = start.duration(to: ContinuousClock().now)
    let permille = Int(min(max(fraction, 0), 1) * 1000)
    let changed = last.withLock { last in
      defer { last = permille }
      return last != permille
    }
    guard changed else { return }
    Console.write("\r\u{1B}[K" + Self.text(title: title, fraction: fraction, stage: stage, elapsed: elapsed), to: 2)
  }

  /// Takes the bar away, so that what follows starts on a clean line.
  func clear() {
    guard shown, last.withLock({ $0 != nil }) else { return }
    Console.write("\r\u{1B}[K", to: 2)
  }

  /// `composing  [##########··········]  50 %  compose  2 s left`; pure.
  static func text(title: String, fraction: Double, stage: String, elapsed: Duration) -> String {
    let fraction = min(max(fraction, 0), 1)
    let width = 24
    let filled = Int(fraction * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: width - filled)
    let percent = String(Int(fraction * 100))
    let padded = String(repeating: " ", count: 3 - min(3, percent.count)) + percent
    var text = "\(title)  [\(bar)] \(padded) %"
    if !stage.isEmpty { text += "  \(stage)" }
    if fraction > 0.05 && fraction < 1 {
      let left = Int((elapsed / .seconds(1)) * (1 - fraction) / fraction + 0.5)
      text += "  \(left) s left"
    }
    return text
  }
}
