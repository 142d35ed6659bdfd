package import Model

/// What a producer committed.
package struct JobOrder: Sendable, Hashable {
  package let job: PublicID
  /// Whether a live job with the same unique key stands for it.
  package let isAbsorbed: Bool

  package init(_ job: PublicID, isAbsorbed: Bool = false) {
    self.job = job
    self.isAbsorbed = isAbsorbed
  }
}
