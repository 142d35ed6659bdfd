import BlobTesting
package import Blobs
package import Crypto
import Definitions
package import Model
import Platform
package import Postgres
import PostgresTesting
package import Queue
import Rooms
package import Store
import Testing

/// A store with its own database and folder, and helpers for tests.
package struct StoreFixture {
  private static let template = TestTemplate(name: "store") { session in
    try Migrator(.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  package let blobs: FolderBlobStore
  package let store: Store
  package let pool: Pool
  package let url: DatabaseURL

  package init(blobs: FolderBlobStore, store: Store, pool: Pool, url: DatabaseURL) {
    self.blobs = blobs
    self.store = store
    self.pool = pool
    self.url = url
  }

  /// Runs a test with a fixture, and removes it afterwards.
  package static func with(_ body: (StoreFixture) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await withDatabase(template) { url in
      let blobs = try FolderBlobStore(folder: "\(folder.path)/blobs")
      let pool = Pool(url, size: 6)
      // What a test deletes goes at once.
      let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
      try await body(StoreFixture(blobs: blobs, store: store, pool: pool, url: url))
      await pool.close()
    }
  }

  /// The same store, which keeps no sources of rejected media.
  package var keepingNone: Store { Store(blobs: blobs, rooms: .all, keepRejected: .zero, releasedPause: .zero) }

  /// Creates a sealed file that is not published, and is ready for a transaction.
  package func seal(_ text: String) throws -> SealedBlob { try blobs.seal(Array(text.utf8)) }

  /// Creates the sources of a moment.
  package func sources(_ front: String, _ back: String) throws -> [NewAsset] {
    [
      NewAsset(role: .sourceFront, type: "video/quicktime", content: try seal(front)),
      NewAsset(role: .sourceBack, type: "video/quicktime", content: try seal(back)),
    ]
  }

  /// Creates a composed video and a small image.
  package func outputs(_ text: String) throws -> [NewAsset] {
    [
      NewAsset(
        role: .composed, type: "video/mp4", content: try seal("composed \(text)"), width: 1080, height: 1920,
        duration: 5),
      NewAsset(
        role: .image, type: "image/jpeg", content: try seal("image \(text)"), width: 404, height: 720, thumbhash: "3Qg="
      ),
    ]
  }

  /// Submits a moment, and returns the id of the post.
  @discardableResult
  package func submit(
    _ front: String = "front", _ back: String = "back", draft: PostDraft = PostDraft(author: "ada"),
    adjusting: @Sendable (inout Definition) -> Void = { _ in }
  ) async throws -> PublicID {
    let sources = try sources(front, back)
    var definition = try Definitions.take5Post()
    adjusting(&definition)
    return try await store.transaction(publishing: sources, pool) { [store, definition] session in
      try store.submitPost(
        draft, sources: sources, definition: .clips(definition), request: JobRequest(id: "request"), session)
    }
  }

  /// A claimed job and its work.
  package struct Claim: Sendable {
    package let job: ClaimedJob
    package let work: Work
  }

  /// Claims the next job as a new worker.
  package func claim(from queue: String = PostJob.queue) async throws -> Claim {
    let job = try await pool.run { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try JobQueue.claim(worker: worker, queue: queue, limit: 1, session).first
    }
    let claimed = try #require(job)
    let work = try await pool.run { [store] in try store.work(for: claimed, $0) }
    return Claim(job: claimed, work: try #require(work))
  }

  /// Publishes outputs for a claim.
  package func publish(_ claim: Claim, _ text: String = "", recipe: UInt8 = 1) async throws {
    let outputs = try outputs(text)
    _ = try await store.transaction(publishing: outputs, pool) { [store] session in
      try store.publish(
        outputs, of: claim.work, recipe: SHA256.digest(of: [recipe]), job: claim.job, verdict: Self.accepted,
        seconds: 1, session)
    }
  }

  package static let accepted = Verdict(
    reasons: [], inputs: [:], moment: MomentReport(offsetSeconds: 0.18, confidence: 0.9, recordedDifference: nil),
    decisions: [])

  /// Collects the released blobs.
  package func collect() async throws {
    try await store.collecting.collectReleased(pool)
  }

  package func post(_ id: PublicID) async throws -> Post {
    let post = try await pool.run { session in try Posts.find(id, for: .unrestricted, session) }
    return try #require(post)
  }

  /// Counts the rows of a table.
  package func count(_ table: String) async throws -> Int {
    try await pool.run { try $0.execute("SELECT count(*) FROM \(table)").single().get(0) }
  }

  /// Whether the folder contains a blob.
  package func holds(_ hash: SHA256Digest) throws -> Bool { try blobs.contains(hash) }

  /// Reads the file of a blob as text.
  package func content(_ hash: SHA256Digest) throws -> String {
    String(decoding: try blobs.open(hash).contents(), as: UTF8.self)
  }

  /// Sets the last heartbeat of all workers to an hour ago, and reaps their jobs.
  package func reap() async throws -> [Reaped] {
    try await pool.transaction { session in
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      let reaped = try JobQueue.reap(session)
      try JobControl.fail(reaped, session)
      return reaped
    }
  }

  /// Checks that the file of each blob without inline content exists and has the right hash.
  package func checkFiles() async throws {
    let hashes = try await pool.run { session in
      try session.execute("SELECT hash FROM blob WHERE inline_content IS NULL").map { try $0.get(0, as: [UInt8].self) }
    }
    for bytes in hashes {
      let hash = try #require(SHA256Digest(bytes: bytes))
      #expect(SHA256.digest(of: Array(try content(hash).utf8)) == hash)
    }
  }
}

extension Work {
  /// The content of a moment's work.
  package var moment: Moment {
    get throws {
      guard case .moment(let moment) = content else { throw StoreError.noSource(subject, .sourceFront) }
      return moment
    }
  }
}
