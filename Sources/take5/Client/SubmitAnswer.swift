import Model

/// What `take5 submit post --wait` tells: what became of the post, and where its assets were saved.
struct SubmitAnswer: Encodable {
  let id: PublicID
  let status: PostStatus
  let reasons: [Reason]
  let decisions: [Decision]
  /// By role: the path it was saved to, or else its URL.
  let assets: [Role: String]

  private let facts: [Role: PostAnswer.Asset]
  private let error: String?

  private enum CodingKeys: CodingKey {
    case id
    case status
    case reasons
    case decisions
    case assets
  }

  init(post: PostAnswer, job: JobAnswer, saved: [Role: String]) {
    id = post.id
    status = post.status
    reasons = post.reasons
    decisions = job.verdict?.decisions ?? []
    assets = post.assets.mapValues(\.url).merging(saved) { _, path in path }
    facts = post.assets
    error = job.error
  }

  /// What a person reads.
  func text(explains: Bool) -> String {
    var lines = ["post \(id) is \(status.rawValue)"]
    lines += reasons.map { "  \($0.input.map { "\($0.rawValue): " } ?? "")\($0.code.rawValue): \($0.detail)" }
    if status == .failed, let error { lines.append("  \(error)") }
    let width = assets.keys.map(\.rawValue.count).max() ?? 0
    for role in Role.allCases {
      guard let path = assets[role], let asset = facts[role] else { continue }
      let padding = String(repeating: " ", count: width - role.rawValue.count)
      var words = "  \(role.rawValue)\(padding)  \(path)  \(asset.width ?? 0)x\(asset.height ?? 0)"
      if let seconds = asset.duration { words += "  \(VerdictText.rounded(seconds)) s" }
      lines.append(words + "  \(asset.bytes / 1000) kB")
    }
    if explains, !decisions.isEmpty {
      lines.append("decisions:")
      lines += decisions.map { decision in
        let input = decision.input.map { "\($0.rawValue): " } ?? ""
        return "  \(decision.subject.rawValue): \(input)\(decision.choice) (\(decision.reason))"
      }
    }
    return lines.joined(separator: "\n")
  }
}
