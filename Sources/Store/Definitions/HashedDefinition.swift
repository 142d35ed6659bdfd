package import Crypto
package import Model

/// A definition with the hash that names it in the database and in every job.
package struct HashedDefinition: Sendable, Hashable {
  package let definition: Definition
  /// Of its JSON as this service writes it: keys in order, no blanks.
  package let hash: SHA256Digest
  /// That JSON.
  package let body: [UInt8]

  /// Throws what encoding throws.
  package init(_ definition: Definition) throws {
    self.definition = definition
    body = try JSON.encode(definition)
    hash = SHA256.digest(of: body)
  }
}
