import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Images that were submitted by themselves, as clients read them.
extension Store {
  /// Reads an image with its assets and its job, all as of one moment; nil if there is none.
  package func image(_ id: PublicID, _ session: Session) throws -> StoredImage? {
    let read = { (session: Session) throws -> StoredImage? in
      try session.execute(Self.statements["image"], .text(id.description)).first.map { try image($0, session) }
    }
    return session.isInTransaction ? try read(session) : try session.snapshot(read)
  }

  /// A page of the images of an owner that can be shown, the newest first.
  ///
  /// - Parameter authors: of any of these; empty: of anybody.
  package func images(
    _ kind: ImageKind, of owner: String, by authors: Set<String> = [], _ page: PageRequest, _ session: Session
  ) throws -> Page<StoredImage> {
    try session.snapshot { session in
      let ofAll: [Parameter] = [
        .text(kind.rawValue), .text(owner), .integer(page.after?.id ?? .max), .integer(page.limit + 1),
      ]
      let rows = Array(
        try session.execute(
          Self.statements[authors.isEmpty ? "images" : "images_of_authors"],
          ofAll + (authors.isEmpty ? [] : [.texts(authors.sorted())])))
      let shown = rows.prefix(page.limit)
      let sets = try shown.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
      let assets = try self.assets(ofSets: sets, session)
      return Page(
        items: try shown.map { try image($0, assets, session) },
        next: try rows.count > page.limit ? shown.last.map(Self.cursor) : nil)
    }
  }

  /// The image of an owner that counts, by one query; nil if there is none.
  ///
  /// - Parameter role: of the asset whose bytes come with it, as far as they lie in the database.
  package func currentImage(
    _ kind: ImageKind, of owner: String, role: Role, _ session: Session
  ) throws -> (image: StoredImage, content: StoredAsset)? {
    let rows = try session.execute(
      Self.statements["current_image"], .text(kind.rawValue), .text(owner), .text(role.rawValue))
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
      id: try first.publicID("image"), draft: ImageDraft(kind: kind, owner: owner, author: try first.get("author")),
      status: try PostDraft.word(first, "status"), createdAt: .init(microseconds: try first.get("created_at")),
      reasons: [], job: nil, assets: assets)
    return (image, content)
  }

  private func image(_ row: Row, _ session: Session) throws -> StoredImage {
    let set = try row.get("asset_set_id", as: Int64?.self)
    return try image(row, try set.map { [$0: try assets(ofSet: $0, session)] } ?? [:], session)
  }

  private func image(_ row: Row, _ sets: [Int64: [Asset]], _ session: Session) throws -> StoredImage {
    let set = try row.get("asset_set_id", as: Int64?.self)
    let all = set.flatMap { sets[$0] } ?? []
    let job = try row.get("job", as: String?.self).flatMap { PublicID($0) }
    return StoredImage(
      id: try row.publicID("public_id"),
      draft: ImageDraft(
        kind: try PostDraft.word(row, "kind"), owner: try row.get("owner"), author: try row.get("author")),
      status: try PostDraft.word(row, "status"), createdAt: .init(microseconds: try row.get("created_at")),
      reasons: try JSON.decode([Reason].self, from: Array(try row.get("reasons", as: String.self).utf8)),
      job: try job.flatMap { try JobQueue.find($0, session)?.summary },
      assets: Dictionary(all.map { ($0.role, $0) }) { first, _ in first })
  }
}
