package import Platform

/// One SQL statement.
///
/// A named statement, from a `.sql` file, is prepared once per connection. A literal is parsed at each execution.
package struct Statement: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The name in errors and of the failpoint.
  package let name: String
  package let text: String
  let isPrepared: Bool
  /// The names of the arguments that are still missing, as `{name}` in the text.
  let parameters: [String]

  /// A text with the names of its parameters.
  struct Template: Sendable {
    let parameters: [String]
    let text: String
  }

  package init(name: String, text: String) {
    self.name = name
    self.text = text
    isPrepared = true
    parameters = []
  }

  init(name: String, _ template: Template) {
    self.name = name
    text = template.text
    isPrepared = true
    parameters = template.parameters
  }

  /// Returns the statement with SQL in place of its parameters; arguments other than these are a programming error.
  ///
  /// - Parameter suffix: distinguishes the name, in errors, from the name of the same statement with other arguments.
  package func filled(_ suffix: String, _ arguments: [String: String]) -> Statement {
    precondition(Set(parameters) == Set(arguments.keys), "statement \(name) takes \(parameters)")
    let text = arguments.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    return Statement(name: "\(name).\(suffix)", text: text)
  }

  package init(stringLiteral text: String) {
    name = String(text.prefix(60))
    self.text = text
    isPrepared = false
    parameters = []
  }

  /// The name of the prepared statement on the server: the name and a fingerprint of the text.
  ///
  /// A pooler may pass on a server connection with its prepared statements. Since a name belongs to one text only, the
  /// execution of such a statement may fail but never runs a different statement.
  var preparedName: String {
    // The server truncates names to 63 bytes (NAMEDATALEN).
    "\(name.prefix(40)) \(String(Self.fingerprint(of: text), radix: 16))"
  }

  // FNV-1a with 64 bits (Fowler, Noll, Vo): equal in every process, unlike Swift's hash values.
  private static func fingerprint(of text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// The failpoint around the statement; nil for a literal.
  var failpoint: Failpoint? { isPrepared ? Failpoint(name, isOnConnection: true) : nil }
}

/// The statements of `.sql` files, each with a name; fragments that several share are inserted: see `StatementFiles`.
package struct Statements: Sendable {
  private let topic: String
  private var statements: [String: Statement]

  /// Parses files of the program; an error in them is a programming error.
  ///
  /// - Parameters:
  ///   - topic: the prefix of the names, as in `queue.claim`.
  ///   - files: their contents.
  ///   - fragments: the program's fragments, by name.
  package init(topic: String, _ files: EmbeddedText..., fragments: [String: String] = [:]) {
    do { try self.init(topic: topic, parsing: files.map(\.bytes), fragments: fragments) } catch {
      preconditionFailure("topic \(topic): \(error)")
    }
  }

  /// Parses files; throws if a name occurs twice, or if a fragment is unknown or gets too few or too many arguments.
  package init(
    topic: String, parsing files: [[UInt8]], fragments: [String: String] = [:]
  ) throws(StatementError) {
    self.topic = topic
    statements = [:]
    for (name, template) in try StatementFiles(files, fragments: fragments).statements {
      statements[name] = Statement(name: "\(topic).\(name)", template)
    }
  }

  /// The statement with a name; an unknown name is a programming error.
  package subscript(name: String) -> Statement {
    guard let statement = statements[name] else { preconditionFailure("unknown statement \(topic).\(name)") }
    return statement
  }

  /// The same statements, with a part of one statement replaced: for tests that break a statement on purpose.
  ///
  /// A part that the statement does not contain is a programming error.
  package func replacing(_ part: String, in name: String, with other: String) -> Statements {
    let statement = self[name]
    precondition(statement.text.contains(part), "statement \(topic).\(name) does not contain: \(part)")
    var changed = self
    changed.statements[name] = Statement(
      name: statement.name,
      Statement.Template(parameters: statement.parameters, text: statement.text.replacing(part, with: other)))
    return changed
  }

  /// The names of the statements, sorted.
  package var names: [String] { statements.keys.sorted() }

  /// The failpoints around the statements.
  package var failpoints: [Failpoint] { names.compactMap { statements[$0]?.failpoint } }
}
