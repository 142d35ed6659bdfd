import Platform

/// One SQL statement.
///
/// A named one, from a `.sql` file, is prepared once per connection; a literal is parsed each time it runs.
package struct Statement: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// What errors call it.
  package let name: String
  package let text: String
  let isPrepared: Bool

  package init(name: String, text: String) {
    self.name = name
    self.text = text
    isPrepared = true
  }

  package init(stringLiteral text: String) {
    name = String(text.prefix(60))
    self.text = text
    isPrepared = false
  }

  /// What it is called by who interrupts it; a literal has no name to be called by.
  var failpoint: Failpoint? { isPrepared ? Failpoint(name, isOnConnection: true) : nil }
}
