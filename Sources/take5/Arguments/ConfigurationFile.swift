/// A configuration file: lines `key = value`, as in PostgreSQL's postgresql.conf.
struct ConfigurationFile: Sendable, Hashable {
  struct Entry: Sendable, Hashable {
    let key: String
    let value: String
    let line: Int
  }

  /// The faults of the file.
  struct Problem: Sendable, Hashable {
    /// Nil if it concerns the whole file.
    let line: Int?
    let message: String
    let remedy: String
  }

  /// The file that is read if it exists and no other one is named.
  static let standardPath = "/etc/take5/take5.conf"
  /// The maximum size in bytes.
  static let maxSize = 64 << 10

  let path: String
  private(set) var entries: [Entry] = []
  private(set) var problems: [Problem] = []

  /// Parses the content of a file.
  init(path: String, _ bytes: [UInt8]) {
    self.path = path
    guard bytes.count <= Self.maxSize else {
      problems = [
        Problem(
          line: nil, message: "the file is larger than \(Self.maxSize >> 10) KiB",
          remedy: "name a configuration file with --config")
      ]
      return
    }
    // Editors of other systems write this mark of UTF-8.
    let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() { read(line, number: index + 1) }
  }

  /// A file that cannot be read.
  init(path: String, unreadable problem: Problem) {
    self.path = path
    problems = [problem]
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>, number: Int) {
    let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    do throws(LineError) {
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw LineError("the line is not UTF-8", remedy: "save the file in UTF-8")
      }
      guard text.unicodeScalars.allSatisfy({ $0 == "\t" || $0.properties.generalCategory != .control }) else {
        throw LineError("the line has a control character", remedy: "remove the character")
      }
      guard let (key, value) = try Self.setting(in: text) else { return }
      if let first = entries.first(where: { $0.key == key }) {
        throw LineError("'\(key)' is set in line \(first.line) too", remedy: "keep one of the two lines")
      }
      entries.append(Entry(key: key, value: value, line: number))
    } catch {
      problems.append(Problem(line: number, message: error.message, remedy: error.remedy))
    }
  }

  /// The key and the value of a line; nil if the line is empty or a comment.
  private static func setting(in line: String) throws(LineError) -> (key: String, value: String)? {
    let text = line.trimmingBlanks
    if text.isEmpty || text.hasPrefix("#") { return nil }
    guard let equals = text.firstIndex(of: "=") else {
      throw LineError("the line has no '='", remedy: "write 'key = value', and '#' before a comment")
    }
    let key = text[..<equals].trimmingBlanks
    guard !key.isEmpty, key.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2D }) else {
      throw LineError("'\(key)' is not a key", remedy: "write the long name of an option without dashes before '='")
    }
    return (String(key), try value(of: text[text.index(after: equals)...].trimmingBlanks, key: key))
  }

  /// A value up to a comment, or between single quotes, in which two quotes stand for one.
  private static func value(of text: Substring, key: Substring) throws(LineError) -> String {
    guard text.hasPrefix("'") else {
      let value = beforeComment(text).trimmingBlanks
      guard !value.isEmpty else {
        throw LineError("'\(key)' has no value", remedy: "write a value after '=', or '#' before the line")
      }
      return String(value)
    }
    var value = ""
    var rest = text.dropFirst()
    while let character = rest.popFirst() {
      if character != "'" {
        value.append(character)
      } else if rest.first == "'" {
        value.append(rest.removeFirst())
      } else {
        let end = rest.trimmingBlanks
        guard end.isEmpty || end.hasPrefix("#") else {
          throw LineError("text follows the closing quote", remedy: "write '' for a quote in a value")
        }
        guard !value.isEmpty else {
          throw LineError("'\(key)' has no value", remedy: "write a value after '=', or '#' before the line")
        }
        return value
      }
    }
    throw LineError("the closing quote is missing", remedy: "end the value with a quote; '' is a quote in a value")
  }

  /// The text before a `#` that follows a blank: one inside a value, such as a URL, belongs to it.
  private static func beforeComment(_ text: Substring) -> Substring {
    var isAfterBlank = true
    for index in text.indices {
      if text[index] == "#" && isAfterBlank { return text[..<index] }
      isAfterBlank = text[index].isBlank
    }
    return text
  }
}

private struct LineError: Error {
  let message: String
  let remedy: String

  init(_ message: String, remedy: String) {
    self.message = message
    self.remedy = remedy
  }
}

extension Character {
  fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

extension StringProtocol {
  fileprivate var trimmingBlanks: Substring {
    var rest = Substring(self)
    while rest.first?.isBlank == true { rest.removeFirst() }
    while rest.last?.isBlank == true { rest.removeLast() }
    return rest
  }
}
