package import Crypto
package import Model

/// Everything an attempt needs to know of the post that it works for.
package struct PostWork: Sendable {
  package let post: PublicID
  package let foreground: Camera
  package let definition: Definition
  /// The hash of the definition.
  package let definitionHash: SHA256Digest
  /// The hashes of the sources.
  package let front: SHA256Digest
  package let back: SHA256Digest

  /// Names the pair of inputs, whatever post they came with: crashes are counted by it.
  package var inputs: SHA256Digest { SHA256.digest(of: front.bytes + back.bytes) }
}
