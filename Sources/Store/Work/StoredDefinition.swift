package import Crypto
package import Model

/// A definition as it is stored in the database, identified by the hash of its canonical JSON.
package struct StoredDefinition: Sendable, Hashable {
  package let name: String
  package let version: Int
  package let attempts: Int
  package let deadlineSeconds: Int
  /// Whether the inputs are clips, otherwise photos.
  package let isForClips: Bool
  package let look: LookAudience
  /// Its JSON.
  package let body: [UInt8]
  package let hash: SHA256Digest

  package init(_ definition: Definition) throws {
    try self.init(
      definition.name, definition.version, definition.attempts, definition.deadlineSeconds, isForClips: true,
      MediaDefinition.clips(definition).look, try JSON.encode(definition))
  }

  package init(_ definition: PhotoDefinition) throws {
    try self.init(
      definition.name, definition.version, definition.attempts, definition.deadlineSeconds, isForClips: false,
      MediaDefinition.photos(definition).look, try JSON.encode(definition))
  }

  package init(_ definition: MediaDefinition) throws {
    switch definition {
    case .clips(let definition): try self.init(definition)
    case .photos(let definition): try self.init(definition)
    }
  }

  private init(
    _ name: String, _ version: Int, _ attempts: Int, _ deadlineSeconds: Int, isForClips: Bool, _ look: LookAudience,
    _ body: [UInt8]
  ) throws {
    self.name = name
    self.version = version
    self.attempts = attempts
    self.deadlineSeconds = deadlineSeconds
    self.isForClips = isForClips
    self.look = look
    self.body = body
    hash = SHA256.digest(of: try JSON.canonical(body))
  }
}
