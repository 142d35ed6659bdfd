import Crypto
package import Model

/// An item of a local run that this process has taken.
package struct LocalItem: Sendable {
  /// What fences its end; there is no job of this id.
  package let job: PublicID
  package let subject: Subject
  let definition: SHA256Digest
}
