package import Blobs
import Crypto
import Model
import Platform
package import Postgres

/// The publication of content before the transaction that refers to it.
extension Store {
  /// Publishes the content of assets, and then runs a transaction that refers to it (`insertSet`): both again if a removal of the
  /// same content meets them. What the transaction does not refer to in the end is collected.
  ///
  /// A process that ends in between leaves a file without a row, as one that ends before its commit: a collector removes it.
  package func transaction<Result: Sendable>(
    publishing assets: [NewAsset], by write: BlobWriting? = nil, _ pool: Pool, timeout: Duration? = nil,
    checkout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    do {
      let result = try await pool.transaction(
        timeout: timeout, checkout: checkout,
        preparedBy: { try await publish(contentOf: assets, by: write, pool, timeout: timeout, checkout: checkout) },
        body)
      await collect(assets.filter { $0.content.publication?.isReferenced == false }, pool)
      return result
    } catch {
      // In an outage neither is it known whether the transaction has been committed, nor does a collection succeed.
      if (error as? PostgresError)?.isTransient != true { await collect(assets, pool) }
      throw error
    }
  }

  /// Publishes the content of assets, for a transaction that follows.
  ///
  /// - Throws: a conflict, if some of it is being removed.
  package func publish(
    contentOf assets: [NewAsset], by write: BlobWriting? = nil, _ pool: Pool, timeout: Duration? = nil,
    checkout: Duration? = nil
  ) async throws {
    let files = assets.filter { !$0.isInline }.map(\.content)
    guard !files.isEmpty else { return }
    let states = try await pool.run(timeout: timeout, checkout: checkout) { try Self.publicationStates(of: files, $0) }
    guard !states.values.contains(where: \.isRemoved) else { throw Self.removed }
    let publish = { @Sendable [blobs] (file: SealedBlob) throws(BlobError) in
      guard let state = states[file.hash] else { return }
      // What fails may have been done.
      file.publication = SealedBlob.Publication(removals: state.removals, isReplacement: state.isDamaged)
      try blobs.publish(file, replacing: state.isDamaged)
    }
    guard let write else {
      // Each waits for the disk or for another machine.
      return try await files.forEach(concurrently: files.count) { file in
        try await onThread("blobs") { try publish(file) }
      } receive: { _, _ in
      }
    }
    try await write { () throws(BlobError) in for file in files { try publish(file) } }
  }

  /// Requires that the content of assets, whose rows the transaction has locked, is published: that no removal came after it, and that it
  /// has replaced what was damaged.
  ///
  /// - Throws: a conflict, after which it is published again.
  func requirePublished(_ assets: [NewAsset], _ session: Session) throws {
    let files = assets.filter { !$0.isInline }.map(\.content)
    guard !files.isEmpty else { return }
    let states = try Self.publicationStates(of: files, session)
    for file in files {
      guard let state = states[file.hash], let publication = file.publication, publication.removals == state.removals,
        publication.isReplacement || !state.isDamaged
      else { throw Self.removed }
      if state.isDamaged { try Damage.drop(of: file.hash, session) }
      file.publication?.isReferenced = true
    }
  }

  private struct PublicationState {
    /// The count of removals, of this content among others.
    let removals: Int64
    /// Whether the content is being removed.
    let isRemoved: Bool
    let isDamaged: Bool
  }

  private static func publicationStates(
    of files: [SealedBlob], _ session: Session
  ) throws -> [SHA256Digest: PublicationState] {
    var states: [SHA256Digest: PublicationState] = [:]
    let names = Parameter.byteStrings(files.map(\.hash.bytes))
    for row in try session.execute(Collecting.statements["publication_states"], names) {
      guard let hash = SHA256Digest(bytes: try row.get("hash")) else { continue }
      states[hash] = PublicationState(
        removals: try row.get("removals"), isRemoved: try row.get("is_removed"), isDamaged: try row.get("is_damaged"))
    }
    return states
  }

  /// As the trigger `blob_removal` says it.
  private static let removed = PostgresError(
    .server, "content was removed after its publication, or is being removed", sqlState: "40001")

  /// Collects what was published and has no row. What cannot be collected now is collected by a collector.
  private func collect(_ assets: [NewAsset], _ pool: Pool) async {
    // Also if the task of the caller is cancelled.
    await Task {
      do {
        for asset in assets where asset.content.publication != nil {
          _ = try await collecting.collectOrphan(asset.content.hash, bytes: asset.content.bytes, pool)
        }
      } catch {}
    }.value
  }

  /// Inserts a set and its assets, whose blobs are published or loaded, inside the caller's transaction, which comes from
  /// `transaction(publishing:)`.
  ///
  /// The rows of the blobs are locked first, in the order of their hashes, so that two writers do not deadlock.
  func insertSet(
    _ assets: [NewAsset], definition: SHA256Digest?, recipe: SHA256Digest?, job: PublicID?, _ session: Session
  ) throws -> Int64 {
    for asset in assets.sorted(by: { $0.content.hash < $1.content.hash }) {
      let inline = asset.isInline ? try asset.content.content() : nil
      let inserted = try session.execute(
        Self.statements["insert_blob"], .bytes(asset.content.hash.bytes), .integer(asset.content.bytes),
        .bytes(inline), .texts(blobs.ids.map(\.description)))
      guard !inserted.isEmpty else { throw Self.movedAway }
    }
    try requirePublished(assets, session)
    let set: Int64 = try session.execute(
      Self.statements["insert_set"], .text(PublicID.now().description), .bytes(definition?.bytes),
      .bytes(recipe?.bytes), .text(job?.description)
    ).single().get("id")
    for asset in assets {
      try session.execute(
        Self.statements["insert_asset"], .text(PublicID.now().description), .integer(set), .text(asset.role.rawValue),
        .bytes(asset.content.hash.bytes), .text(asset.type), .integer(asset.content.bytes),
        .integer(asset.width.map(Int64.init)), .integer(asset.height.map(Int64.init)), .double(asset.duration),
        .text(asset.thumbhash), .integer(asset.place), .text(asset.color), .double(asset.loudness))
    }
    return set
  }
}
