import FoundationEssentials
import Model
import Platform

/// A post or an image in the output of `take5 submit --wait` and `take5 posts`.
struct MediaReport: Encodable {
  let id: PublicID
  let kind: String
  let status: String
  let author: String?
  let visibility: Visibility?
  let title: String?
  let caption: String?
  let createdAt: Date
  /// The job that processes it; nil if it has no media, or its files have not arrived or were refused.
  let job: PublicID?
  let reasons: [Reason]
  /// Nil in a list, for which no job is read.
  var decisions: [Decision]?
  /// By role, the path that the asset was saved to, or its URL.
  let assets: [Role: String]
  /// The assets of each photo of a photo post.
  let photos: [[Role: String]]?

  private let resource: MediaResource
  private let media: MediaResponse
  private let facts: [(name: MediaName, asset: MediaResponse.Asset, location: String)]
  private let currentJob: JobResponse?

  private enum CodingKeys: CodingKey {
    case id, kind, status, author, visibility, title, caption, createdAt, job, reasons, decisions, assets, photos
  }

  /// - Parameters:
  ///   - job: with the verdict; nil if there is none, or only the post was read.
  ///   - url: makes an absolute URL from a path.
  init(
    _ resource: MediaResource, _ media: MediaResponse, job: JobResponse? = nil, saved: [MediaName: String] = [:],
    url: (String) -> String
  ) {
    self.resource = resource
    self.media = media
    id = media.id
    kind = media.kind
    status = media.status.rawValue
    author = media.author
    visibility = media.visibility
    title = media.title
    caption = media.caption
    createdAt = media.createdAt
    self.job = media.job?.id
    currentJob = job ?? media.job
    reasons = media.reasons
    decisions = job?.verdict?.decisions ?? []
    var locations: [MediaName: String] = [:]
    for (name, asset) in media.assetsByName { locations[name] = saved[name] ?? url(asset.url) }
    func part(_ photo: Int?) -> [Role: String] {
      var part: [Role: String] = [:]
      for (name, location) in locations where name.photo == photo { part[name.role] = location }
      return part
    }
    assets = part(nil)
    photos = media.photos.flatMap { $0.isEmpty ? nil : $0.indices.map { part($0) } }
    let order = Role.allCases
    facts = media.assetsByName.map { (name: $0, asset: $1, location: locations[$0] ?? "") }.sorted { one, other in
      (one.name.photo ?? 0, order.firstIndex(of: one.name.role) ?? 0)
        < (other.name.photo ?? 0, order.firstIndex(of: other.name.role) ?? 0)
    }
  }

  /// A table of posts.
  static func lines(_ reports: [MediaReport]) -> [String] {
    var table = TextTable("POST", "CREATED", "KIND", "STATUS", "AUTHOR", "NOTE")
    for report in reports {
      table.add(
        "\(report.id)", JSON.text(of: report.createdAt), report.kind, report.status, report.author, report.note ?? "")
    }
    return table.lines
  }

  /// Why it is not ready, in a few words; nil if it is.
  private var note: String? {
    switch media.status {
    case .rejected: Set(reasons.map(\.code.rawValue)).sorted().joined(separator: ", ")
    case .processing:
      if let currentJob {
        currentJob.state == .executing ? "\(Int(currentJob.progress * 100)) %" : "job \(currentJob.state.rawValue)"
      } else {
        "awaits its files"
      }
    case .held: "only its author sees it until a moderator decides"
    case .hidden: "only its author sees it: a moderator has hidden it"
    case .failed: job.map { "'take5 jobs show \($0)' shows the error, on a machine of the service" }
    case .ready, .replaced: nil
    }
  }

  /// The result of a submission as text.
  func result(explains: Bool) -> String {
    (heading + outcome + (explains ? decisionLines : [])).joined(separator: "\n")
  }

  /// All fields as text.
  var text: String {
    var lines = heading
    func add(_ title: String, _ value: String?) {
      guard let value else { return }
      lines.append("  \(title)\(String(repeating: " ", count: max(1, 12 - title.count)))\(value)")
    }
    add("kind", kind)
    add("author", author)
    add("visibility", visibility?.rawValue)
    add("title", title)
    add("caption", caption)
    add("created", JSON.text(of: createdAt))
    add("job", job.map { "\($0)" })
    return (lines + outcome + decisionLines).joined(separator: "\n")
  }

  private var heading: [String] { ["\(resource.rawValue) \(id) is \(status)"] }

  /// Why it is not ready, or its files.
  private var outcome: [String] {
    // Each reason ends with its remedy.
    var lines = media.status == .rejected ? reasons.map(VerdictText.text(of:)) : note.map { ["  \($0)"] } ?? []
    let width = facts.map(\.name.role.rawValue.count).max() ?? 0
    for (name, asset, location) in facts {
      let role = name.role.rawValue
      var line = "  \(role)\(String(repeating: " ", count: width - role.count))  \(location)"
      line += "  \(asset.width ?? 0)x\(asset.height ?? 0)"
      if let seconds = asset.duration { line += "  \(VerdictText.rounded(seconds)) s" }
      lines.append(line + "  \(asset.bytes / 1000) kB")
    }
    return lines
  }

  private var decisionLines: [String] {
    guard let decisions, !decisions.isEmpty else { return [] }
    return ["decisions:"] + decisions.map(VerdictText.text(of:))
  }
}
