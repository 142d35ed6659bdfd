package import Platform

/// The statements of one `.sql` file: each begins with a line `-- name: <name>` and reaches to the next such line.
package struct Statements: Sendable {
  private let topic: String
  private var statements: [String: Statement]

  /// Reads a file that was embedded in the program.
  ///
  /// - Parameters:
  ///   - topic: what errors put before the name: `queue.claim`.
  ///   - bytes: the file's content; a name that occurs twice stops the program.
  package init(topic: String, _ bytes: [UInt8]) {
    self.topic = topic
    var found: [String: Statement] = [:]
    var name: String?
    var lines: [Substring] = []
    func close() {
      guard let name else { return }
      let text = lines.joined(separator: "\n")
      precondition(found[name] == nil, "statement \(topic).\(name) occurs twice")
      found[name] = Statement(name: "\(topic).\(name)", text: text)
    }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("-- name: ") {
        close()
        name = String(line.dropFirst("-- name: ".count))
        lines = []
      } else if !line.hasPrefix("--") {
        lines.append(line)
      }
    }
    close()
    statements = found
  }

  /// The statement of that name; a name that the file does not have stops the program.
  package subscript(name: String) -> Statement {
    guard let statement = statements[name] else { preconditionFailure("no statement \(topic).\(name)") }
    return statement
  }

  /// The same statements but for one, in which a part is replaced: what a test breaks on purpose.
  ///
  /// A part that the statement does not have stops the program.
  package func replacing(_ part: String, in name: String, with other: String) -> Statements {
    let statement = self[name]
    precondition(statement.text.contains(part), "statement \(topic).\(name) has no such part: \(part)")
    var changed = self
    changed.statements[name] = Statement(name: statement.name, text: statement.text.replacing(part, with: other))
    return changed
  }

  /// The names in the file.
  package var names: [String] { statements.keys.sorted() }

  /// Each of them can be interrupted before and after.
  package var failpoints: [Failpoint] { names.compactMap { statements[$0]?.failpoint } }
}
