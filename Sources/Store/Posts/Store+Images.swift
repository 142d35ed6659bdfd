import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Images, as clients read them.
extension Store {
  /// Reads an image with its assets and its job from one snapshot; nil if the viewer sees no such image.
  package func image(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> StoredImage? {
    try session.reading { session in
      try session.execute(Self.statements["image"], .text(id.description), viewer.parameter).first
        .map { try image($0, session) }
    }
  }

  /// Reads a page of the images of an owner that have outputs and that the viewer sees, the newest first. For reactions,
  /// the caller checks that the viewer sees the post (`hasPost`).
  ///
  /// - Parameter authors: the authors of the images; empty: all authors.
  package func images(
    _ kind: ImageKind, of owner: String, by authors: [String] = [], for viewer: Viewer, _ page: PageRequest,
    _ session: Session
  ) throws -> Page<StoredImage> {
    try session.snapshot { session in
      let parameters: [Parameter] = [
        .text(kind.rawValue), .text(owner), .integer(page.after?.id ?? .max), .integer(page.limit + 1),
        viewer.parameter,
      ]
      let rows = try session.execute(
        authors.isEmpty ? Self.statements["images"] : Self.statements["images_of_authors"],
        parameters + (authors.isEmpty ? [] : [.texts(authors)]))
      return try Page(rows, page) { shown in
        let (assets, jobs) = try assetsAndJobs(of: shown, session)
        return try shown.map { try image($0, assets, jobs) }
      }
    }
  }

  /// Reads the current image of an owner with one query; nil if there is none that the viewer sees.
  ///
  /// - Parameter role: the role of the asset whose content is read as well if it is stored in the database.
  package func currentImage(
    _ kind: ImageKind, of owner: String, role: Role, for viewer: Viewer, _ session: Session
  ) throws -> (image: StoredImage, content: StoredAsset)? {
    if kind == .itinerary, case .some(nil) = try roleOfCollection(owner, for: viewer, session) { return nil }
    let rows = try session.execute(
      Self.statements["current_image"], .text(kind.rawValue), .text(owner), .text(role.rawValue),
      viewer.parameter)
    guard let first = rows.first else { return nil }
    var assets: [Role: Asset] = [:]
    var content: StoredAsset?
    for row in rows {
      let asset = try Asset(row)
      assets[asset.role] = asset
      if asset.role == role { content = try StoredAsset(asset, row) }
    }
    guard let content else { return nil }
    let image = StoredImage(
      id: try first.publicID("image"),
      draft: ImageDraft(
        kind: kind, owner: owner, author: try first.get("author"), alternativeText: try first.get("alternative_text")),
      status: try first.enumValue("status"), createdAt: .init(microseconds: try first.get("created_at")),
      reasons: [], job: nil, assets: assets, isPublic: true)
    return (image, content)
  }

  /// Reads the current image of an owner, which `lock_owner` has locked; nil if there is none.
  func lockedImage(_ kind: ImageKind, of owner: String, _ session: Session) throws -> StoredImage? {
    try session.execute(
      Self.statements["images"], .text(kind.rawValue), .text(owner), .integer(.max), .integer(1),
      Viewer.unrestricted.parameter
    ).first.map { try image($0, session) }
  }

  func image(_ row: Row, _ session: Session) throws -> StoredImage {
    let (assets, jobs) = try assetsAndJobs(of: [row], session)
    return try image(row, assets, jobs)
  }

  private func image(_ row: Row, _ sets: [Int64: [Asset]], _ jobs: [PublicID: JobSummary]) throws -> StoredImage {
    let set = try row.get("asset_set_id", as: Int64?.self)
    let all = set.flatMap { sets[$0] } ?? []
    let job = try row.get("job", as: String?.self).flatMap { PublicID($0) }
    return StoredImage(
      id: try row.publicID("public_id"),
      draft: ImageDraft(
        kind: try row.enumValue("kind"), owner: try row.get("owner"), author: try row.get("author"),
        alternativeText: try row.get("alternative_text")),
      status: try row.enumValue("status"), createdAt: .init(microseconds: try row.get("created_at")),
      reasons: try row.reasons(),
      job: job.flatMap { jobs[$0] },
      assets: Dictionary(all.map { ($0.role, $0) }) { first, _ in first }, isPublic: try row.get("is_public"))
  }
}
