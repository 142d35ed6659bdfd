import FoundationEssentials
import Model

/// A case of moderation in the output of `take5 moderation`.
struct CaseReport: Encodable {
  private let found: ModerationCase
  private let reports: [Report]

  init(_ found: ModerationCase, _ reports: [Report] = []) {
    self.found = found
    self.reports = reports
  }

  private struct ReportLine: Encodable {
    let author: String
    let reason: String
    let text: String?
    let createdAt: Date
  }

  private enum CodingKeys: String, CodingKey {
    case id, subject, author, cause, createdAt, decision, decidedBy, decidedAt, note, reports
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(found.id, forKey: .id)
    try container.encode(Self.name(of: found.subject), forKey: .subject)
    try container.encode(found.author, forKey: .author)
    try container.encode(found.cause, forKey: .cause)
    try container.encode(found.createdAt, forKey: .createdAt)
    try container.encode(found.outcome?.decision, forKey: .decision)
    try container.encode(found.outcome?.by, forKey: .decidedBy)
    try container.encode(found.outcome?.at, forKey: .decidedAt)
    try container.encode(found.outcome?.note, forKey: .note)
    try container.encode(
      reports.map { ReportLine(author: $0.author, reason: $0.reason, text: $0.text, createdAt: $0.createdAt) },
      forKey: .reports)
  }

  /// A subject in messages, such as `post ID` or `user ID`.
  static func name(of subject: RecordID) -> String { "\(subject.kind.name) \(subject.id)" }

  /// A table of cases.
  static func lines(_ cases: [ModerationCase]) -> [String] {
    var table = TextTable("CASE", "SUBJECT", "AUTHOR", "CAUSE", "REPORTS", "OPENED", "DECISION")
    for found in cases {
      table.add(
        "\(found.id)", name(of: found.subject), found.author, found.cause.rawValue, "\(found.reports)",
        JSON.text(of: found.createdAt), found.outcome?.decision.rawValue)
    }
    return table.lines
  }

  /// What a decision has done.
  var outcome: String {
    let name = Self.name(of: found.subject)
    return switch found.outcome?.decision {
    case .approve: "\(name) is approved"
    case .hide:
      "\(name) is hidden from all \(found.subject.kind == .place ? "users" : "but its author")"
    case .suspend: "\(name) is suspended"
    case nil: "\(name) waits for a decision"
    }
  }

  /// All fields as text, with the commands that decide.
  var text: String {
    var lines = ["case \(found.id): \(outcome)"]
    func add(_ title: String, _ value: String?) {
      guard let value else { return }
      lines.append("  \(title)\(String(repeating: " ", count: max(1, 12 - title.count)))\(value)")
    }
    add("author", found.author)
    add("cause", found.cause.rawValue)
    add("opened", JSON.text(of: found.createdAt))
    if let outcome = found.outcome {
      add("decided", JSON.text(of: outcome.at))
      add("by", outcome.by)
      add("note", outcome.note)
    }
    for report in reports {
      add("report", "\(report.reason), by \(report.author)\(report.text.map { ": \($0)" } ?? "")")
    }
    if found.outcome == nil {
      add("decide", "take5 moderation approve \(found.id)")
      let other: ModerationDecision = ModerationDecision.hide.concerns(found.subject) ? .hide : .suspend
      add("", "take5 moderation \(other.rawValue) \(found.id)")
    }
    return lines.joined(separator: "\n")
  }
}
