/// How a video stream says its numbers mean colours, by libav's names (ITU-T H.273); `unknown` where it does not say.
package struct ColorFacts: Codable, Sendable, Hashable {
  /// `tv` or `pc`.
  package var range: String
  package var matrix: String
  package var primaries: String
  package var transfer: String

  package init(range: String, matrix: String, primaries: String, transfer: String) {
    self.range = range
    self.matrix = matrix
    self.primaries = primaries
    self.transfer = transfer
  }
}
