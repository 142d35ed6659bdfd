import Blobs
package import Crypto
import Model
package import Platform
import Postgres

extension Store {
  /// Opens the bytes of a blob, wherever they are; `BlobError.missing` if there is none. Blocks if they are in a file.
  package func openBlob(_ hash: SHA256Digest) async throws -> Descriptor {
    let content = try await pool.run { session in
      let row = try session.execute(StatementFiles.blob["read"], .bytes(hash.bytes)).first
      return try row?.get("content", as: [UInt8]?.self) ?? nil
    }
    guard let content else { return try blobs.open(hash) }
    var staged = try blobs.stage()
    try content.withUnsafeBytes { try staged.append($0) }
    return try staged.seal().duplicateDescriptor()
  }

  /// Lets files that are not kept in the database reach the disk before any lock is held.
  func synchronize(_ assets: [NewAsset]) throws(BlobError) {
    for asset in assets where !Self.isInline(asset) { try asset.blob.synchronize() }
  }

  /// Makes a set with its assets; their blobs' rows are locked from here to the end of the transaction.
  func insertSet(
    _ assets: [NewAsset], definition: SHA256Digest?, recipe: SHA256Digest?, job: PublicID?, _ session: Session
  ) throws -> Int64 {
    // Everybody locks in the order of hashes: two who bring the same files do not wait for each other in a circle.
    for asset in assets.sorted(by: { $0.blob.hash < $1.blob.hash }) { try keep(asset, session) }
    let set: Int64 = try session.execute(
      StatementFiles.asset["make_set"], .text(PublicID.now().description), .bytes(definition?.bytes),
      .bytes(recipe?.bytes), .text(job?.description)
    ).single().get("id")
    var places: [Role: Int] = [:]
    for asset in assets {
      let place = places[asset.role, default: 0]
      places[asset.role] = place + 1
      try session.execute(
        StatementFiles.asset["add"], .text(PublicID.now().description), .integer(set), .text(asset.role.rawValue),
        .integer(place), .bytes(asset.blob.hash.bytes), .text(asset.type), .integer(asset.width.map(Int64.init)),
        .integer(asset.height.map(Int64.init)), .double(asset.duration), .text(asset.thumbhash))
    }
    return set
  }

  // The row first, then the file, then the commit; the file is published even if the row was there, for a collector
  // that died may have left a row that nothing refers to, without its file.
  private func keep(_ asset: NewAsset, _ session: Session) throws {
    let content = Self.isInline(asset) ? try asset.blob.content() : nil
    let isInline: Bool = try session.execute(
      StatementFiles.blob["keep"], .bytes(asset.blob.hash.bytes), .integer(asset.blob.bytes), .bytes(content)
    ).single().get("is_inline")
    if !isInline { try blobs.publish(asset.blob) }
  }

  private static func isInline(_ asset: NewAsset) -> Bool {
    asset.blob.bytes <= mostInlineBytes && asset.type.hasPrefix("image/")
  }
}
