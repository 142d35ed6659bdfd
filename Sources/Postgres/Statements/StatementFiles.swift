/// What `.sql` files consist of: statements, and fragments that statements insert.
///
/// A statement begins with a line `-- name: <name>` and ends before the next such line. A fragment begins with a line
/// `-- fragment: <name>` or `-- fragment: <name>(<parameter>, …)`; `{<name>}` or `{<name>(<argument>, …)}` inserts it,
/// in a statement or in another fragment, before or after it. In its text `{<parameter>}` is the argument. A statement
/// `-- name: <name>(<parameter>, …)` gets its arguments when it is used (`Statement.filled`).
struct StatementFiles {
  /// The expanded texts, by name.
  private(set) var statements: [String: Statement.Template] = [:]
  private var fragments: [String: Statement.Template] = [:]

  /// - Parameter fragments: the program's fragments, by name.
  init(_ files: [[UInt8]], fragments: [String: String] = [:]) throws(StatementError) {
    self.fragments = fragments.mapValues { Statement.Template(parameters: [], text: $0) }
    for file in files { try read(String(decoding: file, as: UTF8.self)) }
    for (name, statement) in statements {
      let holes = Dictionary(uniqueKeysWithValues: statement.parameters.map { ($0, "{\($0)}") })
      statements[name] = Statement.Template(
        parameters: statement.parameters, text: try expand(statement.text, holes, in: [name]))
    }
  }

  // By bytes: every program reads the files when it starts, and to find the characters of a text takes ten times as long.
  private mutating func read(_ file: String) throws(StatementError) {
    let (statement, fragment) = ("-- name: ", "-- fragment: ")
    var heading: Substring?
    var lines: [Substring] = []
    for line in file.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      if line.starts(with: statement.utf8) || line.starts(with: fragment.utf8) {
        if let heading { try add(heading, lines) }
        (heading, lines) = (Substring(line), [])
      } else if !line.starts(with: "--".utf8) {
        lines.append(Substring(line))
      }
    }
    if let heading { try add(heading, lines) }

    func add(_ heading: Substring, _ lines: [Substring]) throws(StatementError) {
      let isStatement = heading.hasPrefix(statement)
      // The heading has the form of the use.
      let text = "{\(heading.dropFirst(isStatement ? statement.count : fragment.count))}"
      guard let use = FragmentUse(Substring(text)), use.end == text.endIndex else {
        throw StatementError("the line is malformed: \(heading)")
      }
      let body = isStatement ? lines[...] : lines[...(lines.lastIndex { !$0.isEmpty } ?? -1)]
      let value = Statement.Template(
        parameters: use.arguments.map(String.init), text: body.joined(separator: "\n"))
      let name = String(use.name)
      let former =
        isStatement ? statements.updateValue(value, forKey: name) : fragments.updateValue(value, forKey: name)
      guard former == nil else {
        throw StatementError("\(isStatement ? "statement" : "fragment") \(name) occurs twice")
      }
    }
  }

  /// Inserts the fragments that a text names.
  ///
  /// - Parameters:
  ///   - arguments: the arguments of the fragment that the text belongs to.
  ///   - path: the names of the statement and of the fragments that contain the text.
  private func expand(
    _ text: String, _ arguments: [String: String] = [:], in path: [String]
  ) throws(StatementError) -> String {
    var expanded = ""
    var rest = Substring(text)
    while let brace = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
      expanded += rest[..<brace]
      rest = rest[brace...]
      guard let use = FragmentUse(rest) else {
        expanded += rest.prefix(1)
        rest = rest.dropFirst()
        continue
      }
      rest = rest[use.end...]
      let name = String(use.name)
      if use.arguments.isEmpty, let argument = arguments[name] {
        expanded += argument
        continue
      }
      guard let fragment = fragments[name] else { throw StatementError("\(path[0]): unknown fragment \(name)") }
      guard !path.dropFirst().contains(name) else { throw StatementError("fragment \(name) contains itself") }
      guard fragment.parameters.count == use.arguments.count else {
        throw StatementError("\(path[0]): fragment \(name) takes \(fragment.parameters.count) arguments")
      }
      var inner: [String: String] = [:]
      for (parameter, argument) in zip(fragment.parameters, use.arguments) {
        inner[parameter] = try expand(String(argument), arguments, in: path)
      }
      expanded += try expand(fragment.text, inner, in: path + [name])
    }
    return expanded + rest
  }
}

/// `{name}` or `{name(argument, …)}` at the start of a text; other braces, as in `'{}'` or `[0-9]{8}`, are SQL.
private struct FragmentUse {
  let name: Substring
  private(set) var arguments: [Substring] = []
  let end: Substring.Index

  init?(_ text: Substring) {
    let inside = text.dropFirst()
    name = Substring(
      inside.utf8.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") })
    guard !name.isEmpty else { return nil }
    var rest = inside[name.endIndex...]
    if rest.first == "(" {
      var depth = 0
      var start = rest.index(after: rest.startIndex)
      for index in rest.indices {
        switch rest[index] {
        case "(", "{": depth += 1
        case ")", "}": depth -= 1
        default: break
        }
        guard depth == 0 || depth == 1 && rest[index] == "," else { continue }
        arguments.append(rest[start..<index].drop { $0.isWhitespace })
        start = rest.index(after: index)
        if depth == 0 { break }
      }
      rest = rest[start...]
    }
    guard rest.first == "}" else { return nil }
    end = rest.index(after: rest.startIndex)
  }
}

/// An error in a `.sql` file of statements.
package struct StatementError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
