package import Blobs
package import Postgres
package import Store

/// Looks whether everything that the database tells is there and right, and whether more is there than it tells.
///
/// It may be done while others write. What one statement reads is as of one moment, and cannot be a transaction in
/// between. Where rows and files are compared, a suspicion is looked at again under the lock of the blob's row: writers take
/// it before they publish and hold it until they commit, collectors before they remove.
package struct Verifier: Sendable {
  let pool: Pool
  let store: Store
  let reader: BlobReader
  let inspector: MediaInspector?
  let progress: @Sendable (VerifyStage, Double) -> Void

  var blobs: any InspectableBlobStore { reader.blobs }

  /// - Parameters:
  ///   - inspector: decodes every media file; nil: none is decoded.
  ///   - progress: told how far each stage has come, 0 to 1.
  package init(
    pool: Pool, store: Store, blobs: any InspectableBlobStore, inspector: MediaInspector? = nil,
    progress: @escaping @Sendable (VerifyStage, Double) -> Void = { _, _ in }
  ) {
    self.pool = pool
    self.store = store
    reader = BlobReader(blobs: blobs)
    self.inspector = inspector
    self.progress = progress
  }

  /// How much there is to look at.
  struct Totals: Sendable {
    let blobs: Int
    let bytes: Int64
    let sets: Int
    let posts: Int
    let images: Int
    let assets: Int
  }

  /// Looks at everything.
  ///
  /// - Throws: where something could not be looked at: the database or the blob store is away.
  package func run() async throws -> VerifyReport {
    var report = VerifyReport()
    let totals = try await pool.run { session in
      let row = try session.execute(Integrity.statements["totals"]).single()
      return Totals(
        blobs: try row.get("blobs"), bytes: try row.get("bytes"), sets: try row.get("sets"),
        posts: try row.get("posts"), images: try row.get("images"), assets: try row.get("assets"))
    }
    try await checkBlobs(totals, &report)
    try await checkSets(totals, &report)
    try await checkSubjects(.posts, totals.posts, &report)
    try await checkSubjects(.images, totals.images, &report)
    try await checkFiles(&report)
    if let inspector { try await checkMedia(with: inspector, totals, &report) }
    report.settle()
    return report
  }

  func tell(_ stage: VerifyStage, _ done: Int64, of all: Int64) {
    progress(stage, all == 0 ? 1 : min(1, Double(done) / Double(all)))
  }
}
