import Platform
import Testing

/// A document of the project and the commands in it.
struct Document {
  let path: String
  let text: String

  /// The root of the checkout.
  static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  init(_ path: String) throws {
    self.path = path
    text = String(decoding: try Descriptor(reading: "\(Self.root)/\(path)").contents(), as: UTF8.self)
  }

  /// The lines of its blocks of shell commands.
  var commands: [String] { lines(of: "sh") }

  /// The lines of its blocks in a language.
  func lines(of language: String) -> [String] {
    var lines: [String] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```\(language)"
      } else if isInside {
        lines.append(String(line))
      }
    }
    return lines
  }
}
