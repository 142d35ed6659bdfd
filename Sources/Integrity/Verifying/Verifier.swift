package import Blobs
package import Postgres
package import Store

/// Checks that the database and the blob store are consistent.
///
/// It may run while others write: each statement reads one snapshot. A difference between a row and a file is checked
/// again against the lock of the blob's row, which writers hold from soon after they have published the file until they commit.
package struct Verifier: Sendable {
  let pool: Pool
  let store: Store
  let reader: BlobReader
  let inspector: MediaInspector?
  let parallel: Int
  let recordsDamage: Bool
  let publicationTime: Duration
  let progress: @Sendable (VerifyStage, Double) -> Void

  var blobs: any InspectableBlobStore { reader.blobs }

  /// - Parameters:
  ///   - inspector: decodes the media files; nil: they are not decoded.
  ///   - parallel: the number of blobs that are read at the same time.
  ///   - recordsDamage: whether damaged files are recorded, so that services do not send them, and workers make them again.
  ///   - publicationTime: the time after which a file without a row is an orphan: a transaction that inserts the row follows its publication.
  ///   - progress: receives the progress of each stage, 0 to 1.
  package init(
    pool: Pool, store: Store, blobs: any InspectableBlobStore, inspector: MediaInspector? = nil, parallel: Int,
    recordsDamage: Bool = false, publicationTime: Duration = .seconds(5),
    progress: @escaping @Sendable (VerifyStage, Double) -> Void = { _, _ in }
  ) {
    self.pool = pool
    self.store = store
    reader = BlobReader(blobs: blobs)
    self.inspector = inspector
    self.parallel = parallel
    self.recordsDamage = recordsDamage
    self.publicationTime = publicationTime
    self.progress = progress
  }

  /// The numbers of the objects to check.
  struct Totals: Sendable {
    let blobs: Int
    let bytes: Int64
    let sets: Int
    let posts: Int
    let images: Int
    let assets: Int
  }

  /// Checks everything.
  ///
  /// - Throws: if something cannot be checked because the database or the blob store is not available.
  package func run() async throws -> VerifyReport {
    var report = VerifyReport()
    if inspector != nil {
      try await checkTables(&report)
      // What rows say is checked by reading these tables.
      guard report.findings.isEmpty else { return report }
    }
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
    try await checkRuns(&report)
    try await checkRooms(&report)
    let awaited = try await checkUploads(&report)
    try await checkFiles(besides: awaited, &report)
    if let inspector { try await checkMedia(with: inspector, totals, &report) }
    // What was read until now counts.
    try await checkChecksums(&report)
    report.escalateLostSources()
    return report
  }

  func reportProgress(_ stage: VerifyStage, _ done: Int64, of all: Int64) {
    progress(stage, all == 0 ? 1 : min(1, Double(done) / Double(all)))
  }
}

/// The result of a verification.
package struct VerifyReport: Encodable, Sendable {
  /// The numbers of the objects that were checked.
  package struct Checked: Encodable, Sendable, Hashable {
    package var blobs = 0
    /// The bytes that were read and hashed, in rows and in files.
    package var bytes: Int64 = 0
    package var sets = 0
    package var posts = 0
    package var images = 0
    package var users = 0
    package var relations = 0
    /// The files in the blob store.
    package var files = 0
    /// The media files that were decoded; nil: decoding was not requested.
    package var media: Int?
    /// The tables whose pages were read, catalog included; nil: the caller did not request it.
    package var tables: Int?
    /// Whether the server compares the pages that it reads with checksums; nil: none were read for that.
    package var checksums: Bool?

    /// Counts the rows that the check of a room has read.
    mutating func count(_ rows: Int, of counted: String) {
      switch counted {
      case "users": users += rows
      case "relations": relations += rows
      default: break
      }
    }
  }

  package internal(set) var checked = Checked()
  package internal(set) var findings: [Finding] = []

  /// Whether there are no findings.
  package var isConsistent: Bool { findings.isEmpty }

  /// The codes of findings about lost sources.
  private static let sourceCodes: Set<FindingCode> = [
    .sourceMissing, .sourceCorrupt, .sourcesMissing, .setEmpty, .assetMissing, .blobRowMissing,
  ]

  /// Changes the severity of damaged outputs to lost where the sources are lost.
  mutating func escalateLostSources() {
    let lost = findings.filter { $0.severity == .lost && Self.sourceCodes.contains($0.code) }.flatMap(\.subjects)
    findings = findings.map { $0.escalated(lostSourcesOf: Set(lost)) }
  }
}

/// The stages of a verification, in order.
package enum VerifyStage: String, Sendable, CaseIterable {
  case tables, blobs, sets, posts, images, people, files, media
}
