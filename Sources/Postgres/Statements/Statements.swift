/// The statements of one `.sql` file: each begins with a line `-- name: <name>` and reaches to the next such line.
package struct Statements: Sendable {
  private let topic: String
  private let statements: [String: Statement]

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

  /// The names in the file.
  package var names: [String] { statements.keys.sorted() }
}
