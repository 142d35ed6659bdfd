import Integrity
import Model

extension CollectReport {
  /// For a person.
  var text: String {
    var lines = [
      Self.line(retiredSets, "replaced sets"), Self.line(orphanSets, "sets of nobody"),
      Self.line(blobs, "blobs that nothing names"), Self.line(orphanFiles, "files without a row"),
      Self.line(stagedFiles, "files that were never finished"), Self.line(answers, "expired answers"),
    ].compactMap(\.self).map { "\(isDryRun ? "would remove" : "removed") \($0)" }
    if let heldUntil {
      lines.append("no blob is removed until \(JSON.text(of: heldUntil)): 'take5 gc hold' was said")
    }
    return lines.isEmpty ? "nothing to remove" : lines.joined(separator: "\n")
  }

  private static func line(_ count: Int, _ words: String) -> String? { count == 0 ? nil : "\(count) \(words)" }

  private static func line(_ amount: Amount, _ words: String) -> String? {
    amount.count == 0 ? nil : "\(amount.count) \(words), \(amount.bytes) bytes"
  }
}
