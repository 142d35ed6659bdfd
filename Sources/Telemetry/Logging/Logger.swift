import FoundationEssentials
import Glibc

/// Formats log lines and passes them to an output.
///
/// Each line has the fields of its logger, such as the id of a request or a job. Secrets and media are never logged.
package struct Logger: Sendable {
  private let format: LogFormat
  private let lowest: LogLevel
  private let fields: [(key: String, value: String)]
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - lowest: the lowest level that is logged.
  ///   - write: receives each line; writes it to standard error by default.
  package init(
    format: LogFormat = .fitting(descriptor: 2), lowest: LogLevel = .info,
    write: @escaping @Sendable (String) -> Void = writeToStandardError
  ) {
    self.init(format: format, lowest: lowest, fields: [], write: write)
  }

  private init(
    format: LogFormat, lowest: LogLevel, fields: [(key: String, value: String)],
    write: @escaping @Sendable (String) -> Void
  ) {
    self.format = format
    self.lowest = lowest
    self.fields = fields
    self.write = write
  }

  /// Returns a logger with additional fields.
  package func with(_ added: KeyValuePairs<String, String?>) -> Logger {
    Logger(format: format, lowest: lowest, fields: fields + Self.present(added), write: write)
  }

  /// Writes a line; fields that are nil are left out.
  package func log(_ level: LogLevel, _ message: String, _ added: KeyValuePairs<String, String?> = [:]) {
    guard level >= lowest else { return }
    write(format.line(time: Date(), level: level, message: message, fields: fields + Self.present(added)))
  }

  package func debug(_ message: String, _ added: KeyValuePairs<String, String?> = [:]) { log(.debug, message, added) }
  package func info(_ message: String, _ added: KeyValuePairs<String, String?> = [:]) { log(.info, message, added) }
  package func warning(_ message: String, _ added: KeyValuePairs<String, String?> = [:]) {
    log(.warning, message, added)
  }
  package func error(_ message: String, _ added: KeyValuePairs<String, String?> = [:]) { log(.error, message, added) }

  private static func present(_ fields: KeyValuePairs<String, String?>) -> [(key: String, value: String)] {
    fields.compactMap { key, value in value.map { (key, $0) } }
  }
}

/// Writes a line with one write(2), so that lines of several threads and processes do not mix; waits for the reader.
@Sendable package func writeToStandardError(_ line: String) {
  var line = line
  line.withUTF8 { bytes in _ = Glibc.write(2, bytes.baseAddress, bytes.count) }
}

/// The severity of a log line.
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
