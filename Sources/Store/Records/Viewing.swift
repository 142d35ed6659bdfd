package import Model
package import Postgres

/// A viewer as the last parameter of statements with the fragment `visible`.
extension Viewer {
  /// The id of the user; NULL for a client that acts as no user. Empty, as no id is, for a client without a credential.
  package var parameter: Parameter { .text(self == .stranger ? "" : user) }
}

/// The error for a change or a deletion of what the viewer sees, but does not own.
package struct OwnershipRefusal: Error, Sendable, Hashable {
  package init() {}
}

extension Viewer {
  /// Throws unless the viewer is one of the owners. The caller must roll back.
  package func require(owner owners: String?...) throws(OwnershipRefusal) {
    guard owners.contains(where: owns) else { throw OwnershipRefusal() }
  }
}
