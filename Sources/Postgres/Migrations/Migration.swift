/// One step from an older schema to a newer one.
package struct Migration: Sendable, Hashable {
  /// Its place in the order; never reused.
  package let version: Int
  package let name: String
  /// One or more statements, run in a transaction.
  package let script: String

  /// A migration that was embedded in the program.
  package init(version: Int, name: String, _ bytes: [UInt8]) {
    self.version = version
    self.name = name
    script = String(decoding: bytes, as: UTF8.self)
  }
}
