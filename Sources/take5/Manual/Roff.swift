/// A manual page in the macros of man(7).
struct Roff {
  private var lines: [String]

  /// - Parameters:
  ///   - name: of the page, such as `take5.conf`.
  ///   - abstract: what follows the name in apropos(1).
  init(_ name: String, section: Int, abstract: String, version: String) {
    lines = [
      ".TH \(Self.escaped(name.uppercased())) \(section) \(Self.date) \"take5 \(version)\" \"take5\"", ".SH NAME",
      "\(Self.escaped(name)) \\- \(Self.escaped(abstract))",
    ]
  }

  /// The date of the last change to the texts of the pages: with one of the build, no build would repeat another.
  private static let date = "2026-11-23"

  mutating func section(_ title: String) { lines.append(".SH \"\(Self.escaped(title))\"") }
  mutating func subsection(_ title: String) { lines.append(".SS \"\(Self.escaped(title))\"") }

  /// A paragraph of plain text.
  mutating func paragraph(_ text: String) { lines += [".PP"] + Self.text(text) }

  /// Plain text after a heading.
  mutating func text(_ text: String) { lines += Self.text(text) }

  /// A term and its description.
  mutating func term(_ name: String, value: String? = nil, _ description: String...) {
    lines += [".TP", "\\fB\(Self.escaped(name))\\fP" + (value.map { " \\fI\(Self.escaped($0))\\fP" } ?? "")]
    for (index, text) in description.filter({ !$0.isEmpty }).enumerated() {
      lines += (index == 0 ? [] : [".br"]) + Self.text(text)
    }
  }

  /// Lines that stay as they are.
  mutating func example(_ text: [String]) {
    // Some formatters report a paragraph that follows a heading.
    if lines.last?.hasPrefix(".SH") == false { lines.append(".PP") }
    lines += [".EX"] + text.map { Self.protected(Self.escaped($0)) } + [".EE"]
  }

  var page: String { lines.joined(separator: "\n") + "\n" }

  /// Filled text: lines of the source end with a sentence.
  private static func text(_ text: String) -> [String] {
    let sentences = text.replacing(". ", with: ".\n").split(separator: "\n")
    return sentences.flatMap { Paragraph.wrapped(escaped(String($0)), width: 76) }.map(protected)
  }

  /// A line that begins with a control character is a request.
  private static func protected(_ line: String) -> String {
    line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
  }

  /// A hyphen is a minus sign, as it is typed; characters beyond ASCII are named.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "\"": result += "\\(dq"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
      }
    }
  }
}
