import FoundationEssentials
import Model
import Testing

/// Compares docs/limits.md with the code.
@Suite("The document of limits")
struct LimitsDocumentTests {
  /// A line about a limit.
  struct Row: CustomStringConvertible {
    let description: String
    let value: String
    /// The name of the constant or key, and the file that has it.
    let name: String
    let path: String
    let ending: String
    let tests: [String]

    init?(_ line: Substring) {
      guard let parts = line.wholeMatch(of: /- ([^:]+): (.+?); \[`([^`]+)`\]\(\.\.\/([^)]+)\); (.+?); (`[^;]+)/) else {
        return nil
      }
      description = String(parts.1)
      value = String(parts.2)
      name = String(parts.3)
      path = String(parts.4)
      ending = String(parts.5)
      tests = Self.quoted(String(parts.6))
    }

    /// The texts in backticks.
    static func quoted(_ cell: String) -> [String] {
      cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }

  private static let text = (try? Document("docs/limits.md").text) ?? ""

  private static let lines = text.split(separator: "\n").filter { $0.hasPrefix("- ") }
  private static let rows = lines.compactMap(Row.init)

  /// The cells of the table of what one client can occupy.
  static let shares = text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| resource |") }
    .map { $0.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init) }

  /// The kinds of problems, which OpenAPITests compares with the code.
  private static let problems = Set(
    ((try? Document("docs/problems.md").text) ?? "").matches(of: /\n### (\w+)\n/).map { String($0.1) })

  @Test("every line about a limit has its value, what sets it, where it ends and its tests")
  func complete() {
    #expect(Self.rows.count > 60 && Self.rows.count == Self.lines.count)
  }

  @Test("the shares of one client have the values of the constants, and end in codes that exist, with tests that exist")
  func shareRows() throws {
    #expect(Self.shares.count >= 8)
    for cells in Self.shares {
      let row = cells[0]
      #expect(cells.count == 9, "\(row)")
      // The numbers of all, of a user, and of an API key or an address.
      let numbers = Set(cells[1...3].flatMap(Self.numbers(inCell:)))
      var constants: Set<Double> = []
      for link in cells[7].matches(of: /\[`(\w+)`\]\(\.\.\/([^)]+)\)/) {
        let text = try Document(String(link.2)).text
        #expect(text.contains(link.1), "\(row): \(link.2) has no \(link.1)")
        let values = Self.values(of: String(link.1), in: text)
        #expect(values.isEmpty || !values.isDisjoint(with: numbers), "\(row): \(link.1) is \(values)")
        constants.formUnion(values)
      }
      #expect(numbers.isSubset(of: constants), "\(row): \(numbers), and the code has \(constants)")
      for code in Row.quoted(cells[4]) {
        #expect(Self.problems.contains(code), "\(row): \(code)")
      }
    }
    try Self.expectTests(of: Self.shares) { Row.quoted($0[8]) }
  }

  @Test("the values equal the constants and the built-in definitions")
  func values() throws {
    for row in Self.rows {
      let text = try Document(row.path).text
      let expected =
        row.path.hasSuffix(".json") ? try Self.numbers(ofKey: row.name, in: text) : Self.numbers(row.name, text)
      guard let expected else {
        #expect(text.contains(row.name), "\(row): \(row.path) has no \(row.name)")
        continue
      }
      #expect(Self.numbers(inCell: row.value) == expected, "\(row)")
    }
  }

  @Test("the codes in which limits end exist")
  func endings() throws {
    for row in Self.rows {
      for code in Row.quoted(row.ending) {
        let isKnown =
          ReasonCode(rawValue: code) != nil || WarningCode(rawValue: code) != nil
          || Self.problems.contains(code)
        #expect(isKnown, "\(row): \(code)")
      }
    }
  }

  @Test("the tests exist")
  func tests() throws { try Self.expectTests(of: Self.rows, \.tests) }

  private static func expectTests<Limit>(of rows: [Limit], _ tests: (Limit) -> [String]) throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: "\(Document.root)/Tests")
      .filter { $0.hasSuffix("Tests.swift") }.map { try Document("Tests/\($0)").text }
    for row in rows {
      #expect(!tests(row).isEmpty, "\(row)")
      for test in tests(row) {
        let parts = test.split(separator: ".")
        let exists = files.contains { text in
          text.contains("struct \(parts[0]) ") && (parts.count == 1 || text.contains("func \(parts[1])("))
        }
        #expect(exists, "\(row): \(test)")
      }
    }
  }

  /// The numbers in a cell, with the units KiB, MiB and GiB.
  private static func numbers(inCell cell: String) -> [Double] {
    let words = cell.split(separator: " ")
    return words.enumerated().compactMap { index, word in
      guard let number = Double(word.filter { $0 != "," }) else { return nil }
      let unit = index + 1 < words.count ? words[index + 1] : ""
      return number * (["KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824][unit] ?? 1)
    }
  }

  /// The numbers of a key of a definition, such as `limits.bytes`.
  private static func numbers(ofKey key: String, in text: String) throws -> [Double]? {
    var value: API.Value? = try JSONDecoder().decode(API.Value.self, from: Data(text.utf8))
    for name in key.split(separator: ".") { value = value?[.key(String(name))] }
    switch value {
    case .number(let number)?: return [number]
    case .array(let values)?:
      return values.compactMap { value in if case .number(let number) = value { number } else { nil } }
    default: return nil
    }
  }

  /// The numbers in the line that declares a constant or a property, such as `64 << 10` or `Rate(perMinute: 1, burst: 10)`.
  private static func values(of name: String, in text: String) -> Set<Double> {
    let line = text.split(separator: "\n").lazy.compactMap { $0.firstMatch(of: /\b(?:let|var) (\w+)(.*)/) }
      .first { $0.1 == name }
    return Set(
      (line?.2.matches(of: /\b([0-9][0-9_]*)(?: << ([0-9]+))?/) ?? []).compactMap { match in
        Double(match.1.filter { $0 != "_" }).map { $0 * Double(1 << (match.2.flatMap { Int($0) } ?? 0)) }
      })
  }

  /// The numbers of the first constant or property of a name in Swift or C, such as `64 << 10`, `.seconds(30)` or `1...4`;
  /// nil if it has no such value.
  private static func numbers(_ name: String, _ text: String) -> [Double]? {
    for line in text.split(separator: "\n") {
      let sides = line.split(separator: " = ", maxSplits: 1)
      guard sides.count == 2 else { continue }
      let declared = sides[0].split(separator: ":")[0].split(separator: " ")
      let isDeclaration = declared.contains("let") || declared.contains("var") || declared.contains("enum")
      guard isDeclaration, declared.last == name[...] else { continue }
      let value = sides[1].split(separator: " }")[0].filter { $0 != "_" }
      let number = value.split { !$0.isNumber && $0 != "." && $0 != "<" }.joined()
      if let range = number.firstRange(of: "...") {
        return [number[..<range.lowerBound], number[range.upperBound...]].compactMap { Double($0) }
      }
      let shift = number.split(separator: "<<").compactMap { Double($0.drop { $0 == "." }) }
      guard let first = shift.first else { return nil }
      return [shift.count == 2 ? first * Double(1 << Int(shift[1])) : first]
    }
    return nil
  }
}
