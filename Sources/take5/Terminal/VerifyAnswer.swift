import Integrity

/// What a verification ends with, as the command line tells it.
struct VerifyAnswer: Encodable {
  let whole: Bool
  let checked: VerifyReport.Checked
  /// What is not as it should be, after repairs.
  let findings: [Finding]
  /// What was found and is not there any more.
  let repaired: [Finding]
  /// What could not be repaired, and why.
  let failures: [RepairFailure]

  /// - Parameters:
  ///   - report: the last one.
  ///   - before: what was found before repairs.
  init(_ report: VerifyReport, before: [Finding] = [], failures: [RepairFailure] = []) {
    whole = report.isWhole
    checked = report.checked
    findings = report.findings
    let remaining = Set(report.findings.map { Key(code: $0.code, object: $0.object) })
    repaired = before.filter { !remaining.contains(Key(code: $0.code, object: $0.object)) }
    self.failures = failures
  }

  private struct Key: Hashable {
    let code: FindingCode
    let object: FindingObject
  }

  /// For a person.
  var text: String {
    var lines = repaired.map { "repaired: \(Self.line($0))" }
    for finding in findings {
      lines.append(Self.line(finding))
      lines += finding.subjects.map { "  of \($0)" }
      lines.append("  \(finding.remedy)")
    }
    lines += failures.map { "not repaired: \($0.object.kind) \($0.object.id): \($0.reason)" }
    var looked = "\(checked.blobs) blobs with \(checked.bytes) bytes, \(checked.sets) sets, \(checked.posts) posts, "
    looked += "\(checked.images) images and \(checked.files) files"
    if let media = checked.media { looked += ", \(media) media decoded" }
    lines.append("looked at \(looked)")
    lines.append(whole ? "the store is whole" : Self.sum(findings))
    return lines.joined(separator: "\n")
  }

  private static func line(_ finding: Finding) -> String {
    "\(finding.severity.rawValue)  \(finding.code.rawValue)  \(finding.object.kind) \(finding.object.id): \(finding.detail)"
  }

  private static func sum(_ findings: [Finding]) -> String {
    let parts = Severity.allCases.reversed().compactMap { severity in
      let count = findings.count { $0.severity == severity }
      return count == 0 ? nil : "\(count) \(severity.rawValue)"
    }
    return "the store is not whole: \(parts.joined(separator: ", "))"
  }
}
