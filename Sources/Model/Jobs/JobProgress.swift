/// How far an attempt has come.
package struct JobProgress: Codable, Sendable, Hashable {
  /// 0 to 1.
  package let fraction: Double
  /// The step that runs: `probe`, `compose`, `publish`.
  package let stage: String

  package init(fraction: Double, stage: String) {
    self.fraction = fraction
    self.stage = stage
  }
}
