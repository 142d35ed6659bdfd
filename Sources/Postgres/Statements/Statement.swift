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

  /// What the server calls it once it is prepared: its name with what tells its text from all others.
  ///
  /// A pooler may hand a connection on with everything that was prepared on it. A name that stands for one text only can
  /// fail there, and never runs another statement than was meant.
  var preparedName: String {
    // The server tells names apart by their first 63 bytes (NAMEDATALEN).
    "\(name.prefix(40)) \(String(Self.fingerprint(of: text), radix: 16))"
  }

  // FNV-1a in 64 bits (Fowler, Noll, Vo): the same in every process, as Swift's own hashes are not.
  private static func fingerprint(of text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// What it is called by who interrupts it; a literal has no name to be called by.
  var failpoint: Failpoint? { isPrepared ? Failpoint(name, isOnConnection: true) : nil }
}
