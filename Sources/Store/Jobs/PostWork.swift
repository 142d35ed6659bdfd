package import Crypto
package import Model

/// What a worker needs to know to do a post's job.
package struct PostWork: Sendable {
  /// A file as it was submitted.
  package struct Source: Sendable, Hashable {
    package let hash: SHA256Digest
    package let bytes: Int64
  }

  package let post: PublicID
  package let draft: PostDraft
  package let definition: HashedDefinition
  package let sources: [Role: Source]

  /// Names the inputs together, whichever post brought them: crashes are counted by it.
  package var inputs: SHA256Digest {
    var hasher = SHA256()
    for (role, source) in sources.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      hasher.update(Array(role.rawValue.utf8) + [0] + source.hash.bytes)
    }
    return hasher.finalize()
  }
}
