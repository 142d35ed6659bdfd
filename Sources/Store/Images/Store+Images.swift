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

  /// The images of an owner that can be shown, the newest first.
  package func images(
    _ kind: ImageKind, of owner: String, limit: Int = 100, _ session: Session
  ) throws -> [StoredImage] {
    try session.snapshot { session in
      var images: [StoredImage] = []
      for row in try session.execute(
        Self.statements["images"], .text(kind.rawValue), .text(owner), .integer(limit))
      { images.append(try image(row, session)) }
      return images
    }
  }

  /// The image of an owner that counts, in one role, by one query; nil if there is none.
  package func currentImage(
    _ kind: ImageKind, of owner: String, role: Role, _ session: Session
  ) throws(PostgresError) -> StoredAsset? {
    let rows = try session.execute(
      Self.statements["current_image"], .text(kind.rawValue), .text(owner), .text(role.rawValue))
    guard let row = rows.first else { return nil }
    return StoredAsset(asset: try Asset(row), inline: try row.get("inline_content"))
  }

  private func image(_ row: Row, _ session: Session) throws -> StoredImage {
    var assets: [Role: Asset] = [:]
    if let set = try row.get("asset_set_id", as: Int64?.self) {
      for asset in try self.assets(ofSet: set, session) { assets[asset.role] = asset }
    }
    let job = try row.get("job", as: String?.self).flatMap { PublicID($0) }
    return StoredImage(
      id: try row.publicID("public_id"),
      draft: ImageDraft(
        kind: try PostDraft.word(row, "kind"), owner: try row.get("owner"), author: try row.get("author")),
      status: try PostDraft.word(row, "status"), createdAt: .init(microseconds: try row.get("created_at")),
      reasons: try JSON.decode([Reason].self, from: Array(try row.get("reasons", as: String.self).utf8)),
      job: try job.flatMap { try JobQueue.find($0, session)?.summary }, assets: assets)
  }
}
