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
    let text = Self.text(title: title, fraction: fraction, stage: stage, elapsed: elapsed, width: Console.width(of: 2))
    Console.remark("\r\u{1B}[K" + text)
  }

  /// Takes the bar away, so that what follows starts on a clean line.
  func clear() {
    guard shown, last.withLock({ $0 != nil }) else { return }
    Console.remark("\r\u{1B}[K")
  }

  /// `composing  [##########··········]  50 %  compose  2 s left`, or as much of it as a line of `width` holds; pure.
  static func text(title: String, fraction: Double, stage: String, elapsed: Duration, width: Int = 80) -> String {
    let fraction = min(max(fraction, 0), 1)
    let percent = String(Int(fraction * 100))
    let padded = String(repeating: " ", count: 3 - min(3, percent.count)) + percent
    var more = stage.isEmpty ? "" : "  \(stage)"
    if fraction > 0.05 && fraction < 1 {
      let left = Int((elapsed / .seconds(1)) * (1 - fraction) / fraction + 0.5)
      more += "  \(left) s left"
    }
    // A line that is full wraps in some terminals. The bar gives way first, then what stands behind it.
    let room = width - 1 - "\(title)  [] \(padded) %\(more)".count
    let cells = min(24, room)
    guard cells >= 4 else { return String("\(title) \(padded) %\(more)".prefix(max(width - 1, 0))) }
    let filled = Int(fraction * Double(cells))
    let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: cells - filled)
    return "\(title)  [\(bar)] \(padded) %\(more)"
  }
}
