package import FoundationEssentials
import Glibc

/// The format of a log line.
package enum LogFormat: String, Sendable, CaseIterable {
  /// A line for people: `12:03:04.567 info  post submitted  post=… job=…`.
  case text
  /// A line for programs: one JSON object.
  case json

  /// Text for a terminal, JSON otherwise.
  package static func fitting(descriptor: Int32) -> LogFormat { isatty(descriptor) == 1 ? .text : .json }

  /// Formats one line, with its line feed.
  package func line(
    time: Date, level: LogLevel, message: String, fields: [(key: String, value: String)]
  ) -> String {
    let stamp = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    switch self {
    case .text:
      let clock = stamp.dropFirst(11).dropLast()
      let padded = level.rawValue + String(repeating: " ", count: 7 - level.rawValue.count)
      let pairs = fields.map { "\($0.key)=\(Self.value($0.value))" }.joined(separator: " ")
      return "\(clock) \(padded) \(Self.oneLine(message))\(pairs.isEmpty ? "" : "  " + pairs)\n"
    case .json:
      let pairs = [("time", stamp), ("level", level.rawValue), ("message", message)] + fields
      return "{" + pairs.map { "\(Self.quoted($0.0)):\(Self.quoted($0.1))" }.joined(separator: ",") + "}\n"
    }
  }

  // A value from outside must not be able to forge a log line.
  private static func oneLine(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
  }

  private static func value(_ text: String) -> String {
    let plain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && $0 != "\"" }
    return plain && !text.isEmpty ? text : quoted(text)
  }

  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy {
      $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    if isPlain { return "\"\(text)\"" }
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
