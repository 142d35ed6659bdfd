import Model
import Platform

/// The result that `take5 submit --wait` prints.
struct SubmitResult: Encodable {
  let id: PublicID
  let status: String
  let reasons: [Reason]
  let decisions: [Decision]
  /// By role, the path that the asset was saved to, or its URL.
  let assets: [Role: String]
  /// The assets of each photo of a photo post.
  let photos: [[Role: String]]?

  private let resource: Submission.Resource
  private let facts: [(name: MediaName, asset: MediaResponse.Asset, location: String)]
  private let error: String?
  private let isHeld: Bool

  private enum CodingKeys: CodingKey {
    case id, status, reasons, decisions, assets, photos
  }

  /// - Parameters:
  ///   - job: nil if the media were rejected before there was a job.
  ///   - url: makes an absolute URL from a path.
  init(
    _ resource: Submission.Resource, _ media: MediaResponse, job: JobResponse?, saved: [MediaName: String],
    url: (String) -> String
  ) {
    self.resource = resource
    id = media.id
    status = media.status.rawValue
    isHeld = media.status == .held
    reasons = media.reasons
    decisions = job?.verdict?.decisions ?? []
    error = media.status == .failed ? job?.error : nil
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

  /// The result as text.
  func text(explains: Bool) -> String {
    var lines = ["\(resource.rawValue) \(id) is \(status)"]
    if isHeld { lines.append("  only its author sees it until a moderator decides") }
    lines += reasons.map(VerdictText.text(of:))
    if let error { lines.append("  \(error)") }
    let width = facts.map(\.name.role.rawValue.count).max() ?? 0
    for (name, asset, location) in facts {
      let role = name.role.rawValue
      var line = "  \(role)\(String(repeating: " ", count: width - role.count))  \(location)"
      line += "  \(asset.width ?? 0)x\(asset.height ?? 0)"
      if let seconds = asset.duration { line += "  \(VerdictText.rounded(seconds)) s" }
      lines.append(line + "  \(asset.bytes / 1000) kB")
    }
    if explains, !decisions.isEmpty {
      lines.append("decisions:")
      lines += decisions.map(VerdictText.text(of:))
    }
    return lines.joined(separator: "\n")
  }
}

/// The name of a file of a post or an image: each photo of a photo post has its own roles.
struct MediaName: Hashable, Sendable {
  /// The index of the photo, from 0; nil if the post has no photos.
  let photo: Int?
  let role: Role
}

/// Saves the outputs of a submission in a folder.
struct SavedMedia: Sendable {
  let folder: String
  let replacing: Bool
  let service: ServiceClient

  /// Downloads all assets, or none; returns their paths.
  func save(_ media: MediaResponse) async throws -> [MediaName: String] {
    let assets = media.assetsByName
    var paths: [MediaName: String] = [:]
    for (name, asset) in assets { paths[name] = "\(folder)/\(Self.fileName(name, asset.type))" }
    var files = try OutputFiles(paths, replacing: replacing, protecting: [])
    for (name, asset) in assets {
      guard let number = files.numbers[name] else { continue }
      try await service.download(asset.url, to: number)
    }
    return try files.commit()
  }

  private static func fileName(_ name: MediaName, _ type: String) -> String {
    let ending = ["video/mp4": "mp4", "image/webp": "webp", "image/avif": "avif"][type] ?? "jpg"
    return "\(name.photo.map { "\($0 + 1)." } ?? "")\(name.role.rawValue).\(ending)"
  }
}
