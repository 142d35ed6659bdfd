/// How much a line of the log matters.
package enum LogLevel: String, Sendable, Comparable, CaseIterable {
  case debug
  case info
  case warning
  case error

  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .debug: 0
    case .info: 1
    case .warning: 2
    case .error: 3
    }
  }
}
