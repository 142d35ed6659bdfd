import Model

/// What `take5 submit` tells after it waited: what became of it, and where its assets were saved.
struct SubmitAnswer: Encodable {
  let id: PublicID
  let status: String
  let reasons: [Reason]
  let decisions: [Decision]
  /// By role: the path that it was saved to, or else its URL.
  let assets: [Role: String]
  /// Of a post of photos, each photo's.
  let photos: [[Role: String]]?

  private let resource: Submission.Resource
  private let facts: [(name: MediaName, asset: MediaAnswer.Asset, place: String)]
  private let error: String?

  private enum CodingKeys: CodingKey {
    case id, status, reasons, decisions, assets, photos
  }

  /// - Parameter url: what makes a whole URL of one that begins with its path.
  init(
    _ resource: Submission.Resource, _ media: MediaAnswer, job: JobAnswer, saved: [MediaName: String],
    url: (String) -> String
  ) {
    self.resource = resource
    id = media.id
    status = media.status.rawValue
    reasons = media.reasons
    decisions = job.verdict?.decisions ?? []
    error = media.status == .failed ? job.error : nil
    var places: [MediaName: String] = [:]
    for (name, asset) in media.named { places[name] = saved[name] ?? url(asset.url) }
    func part(_ photo: Int?) -> [Role: String] {
      var part: [Role: String] = [:]
      for (name, place) in places where name.photo == photo { part[name.role] = place }
      return part
    }
    assets = part(nil)
    photos = media.photos.flatMap { $0.isEmpty ? nil : $0.indices.map { part($0) } }
    let order = Role.allCases
    facts = media.named.map { (name: $0, asset: $1, place: places[$0] ?? "") }.sorted { one, other in
      (one.name.photo ?? 0, order.firstIndex(of: one.name.role) ?? 0)
        < (other.name.photo ?? 0, order.firstIndex(of: other.name.role) ?? 0)
    }
  }

  /// What a person reads.
  func text(explains: Bool) -> String {
    var lines = ["\(resource.rawValue) \(id) is \(status)"]
    lines += reasons.map { "  \($0.input.map { "\($0.rawValue): " } ?? "")\($0.code.rawValue): \($0.detail)" }
    if let error { lines.append("  \(error)") }
    let width = facts.map(\.name.role.rawValue.count).max() ?? 0
    for (name, asset, place) in facts {
      let role = name.role.rawValue
      var words = "  \(role)\(String(repeating: " ", count: width - role.count))  \(place)"
      words += "  \(asset.width ?? 0)x\(asset.height ?? 0)"
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
