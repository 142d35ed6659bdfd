/// A number with its noun, as text.
package enum CountText {
  /// Writes `1 job`, `2 jobs`.
  package static func text(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
