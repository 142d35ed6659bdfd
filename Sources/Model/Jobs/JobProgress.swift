/// How far an attempt has come.
package struct JobProgress: Sendable, Hashable {
  /// 0 to 1, in thousandths.
  package let fraction: Double
  /// The step that runs: `probe`, `compose`, `publish`.
  package let stage: String

  /// - Parameter fraction: whoever says it, and whatever: it comes from a process that decodes, or from a row.
  package init(fraction: Double, stage: String) {
    // No more digits than anybody can mean: a row has fewer bits, and what they are short of would be told as digits.
    self.fraction = fraction.isNaN ? 0 : (min(max(fraction, 0), 1) * 1000).rounded() / 1000
    self.stage = stage
  }
}
