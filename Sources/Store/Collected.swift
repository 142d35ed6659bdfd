/// What was collected.
package struct Collected: Sendable, Hashable {
  /// How many blobs were looked at.
  package var examined = 0
  /// How many were removed.
  package var blobs = 0
  /// How many bytes they had.
  package var bytes: Int64 = 0

  package static func += (sum: inout Collected, other: Collected) {
    sum.examined += other.examined
    sum.blobs += other.blobs
    sum.bytes += other.bytes
  }
}
