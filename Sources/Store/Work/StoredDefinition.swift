package import Crypto
package import Model

/// A definition as the database keeps it, named by the hash of its JSON.
package struct StoredDefinition: Sendable, Hashable {
  package let name: String
  package let version: Int
  package let attempts: Int
  package let deadlineSeconds: Int
  let body: [UInt8]
  package let hash: SHA256Digest

  package init(_ definition: Definition) throws {
    self.init(
      definition.name, definition.version, definition.attempts, definition.deadlineSeconds,
      try JSON.encode(definition))
  }

  package init(_ definition: PhotoDefinition) throws {
    self.init(
      definition.name, definition.version, definition.attempts, definition.deadlineSeconds,
      try JSON.encode(definition))
  }

  package init(_ definition: MediaDefinition) throws {
    switch definition {
    case .clips(let definition): try self.init(definition)
    case .photos(let definition): try self.init(definition)
    }
  }

  private init(_ name: String, _ version: Int, _ attempts: Int, _ deadlineSeconds: Int, _ body: [UInt8]) {
    self.name = name
    self.version = version
    self.attempts = attempts
    self.deadlineSeconds = deadlineSeconds
    self.body = body
    hash = SHA256.digest(of: body)
  }
}
