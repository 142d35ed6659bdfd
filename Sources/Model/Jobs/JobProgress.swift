/// How far an attempt has come.
package struct JobProgress: Sendable, Hashable {
  /// 0 to 1.
  package let fraction: Double
  /// The step that runs: `probe`, `compose`, `publish`.
  package let stage: String

  /// - Parameter fraction: whoever says it, and whatever: it comes from a process that decodes, or from a row.
  package init(fraction: Double, stage: String) {
    self.fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    self.stage = stage
  }
}
