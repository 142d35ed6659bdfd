/// Something that could not be put right.
package struct RepairFailure: Encodable, Sendable, Hashable {
  package let object: FindingObject
  /// Why not, in words.
  package let reason: String
}
