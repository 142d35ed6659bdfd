import Blobs
import Crypto
import FoundationEssentials
package import Model
import Postgres
package import Queue

extension Store {
  /// Reads a post with its current assets and its job, all as of one moment; nil if there is none.
  package func post(_ id: PublicID) async throws -> Post? {
    try await pool.run { session in
      try session.snapshot { session in
        guard let row = try session.execute(StatementFiles.post["find"], .text(id.description)).first else {
          return nil
        }
        let job = try row.get("job", as: String?.self).flatMap { PublicID($0) }
        var assets: [Role: Asset] = [:]
        if let set = try row.get("asset_set_id", as: Int64?.self) {
          for row in try session.execute(StatementFiles.asset["of_set"], .integer(set)) {
            let asset = try Asset(row)
            if !asset.role.isSource { assets[asset.role] = asset }
          }
        }
        return Post(
          id: id, draft: try PostDraft(row), status: try row.value("status"),
          createdAt: Date(microseconds: try row.get("created_at")),
          reasons: try JSON.decode([Reason].self, from: Array(try row.get("reasons", as: String.self).utf8)),
          job: try job.flatMap { try JobQueue.find($0, session)?.summary }, assets: assets)
      }
    }
  }

  /// Reads an asset; nil if there is none.
  ///
  /// - Parameter includingSources: sources carry place and device, and are no app's business.
  package func asset(_ id: PublicID, includingSources: Bool = false) async throws -> StoredAsset? {
    try await pool.run { session in
      guard let row = try session.execute(StatementFiles.asset["find"], .text(id.description)).first else { return nil }
      let asset = try Asset(row)
      if asset.role.isSource && !includingSources { return nil }
      let content: StoredAsset.Content
      if let bytes = try row.get("content", as: [UInt8]?.self) {
        content = .inline(bytes)
      } else {
        content = .stored(try row.digest("blob"))
      }
      let recipe = try row.get("recipe", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) }
      return StoredAsset(asset: asset, content: content, recipe: recipe?.hex)
    }
  }

  /// Reads a job; nil if there is none.
  package func job(_ id: PublicID) async throws -> JobRecord? {
    try await pool.run { try JobQueue.find(id, $0) }
  }

  /// Lists jobs, the newest first.
  package func jobs(_ filter: JobFilter) async throws -> [JobRecord] {
    try await pool.run { try JobQueue.list(filter, $0) }
  }
}

extension Asset {
  init(_ row: Row) throws(PostgresError) {
    self.init(
      id: try row.publicID("public_id"), role: try row.value("role"), type: try row.get("type"),
      bytes: try row.get("bytes"), sha256: try row.digest("blob").hex, width: try row.get("width"),
      height: try row.get("height"), duration: try row.get("duration"), thumbhash: try row.get("thumbhash"))
  }
}

extension Row {
  /// A column that holds a SHA-256.
  func digest(_ column: String) throws(PostgresError) -> SHA256Digest {
    guard let digest = SHA256Digest(bytes: try get(column)) else {
      throw PostgresError(.decoding, "column \(column) holds no SHA-256")
    }
    return digest
  }
}
