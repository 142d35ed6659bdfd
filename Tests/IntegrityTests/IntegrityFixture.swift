import BlobTesting
import Blobs
import Crypto
import Definitions
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Rooms
import Store
import Testing
import WaitTesting

/// A store with its own database and folder, with helpers to create posts and to damage them.
struct IntegrityFixture {
  private static let template = TestTemplate(name: "integrity") { session in
    try Migrator(.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  let folder: TemporaryFolder
  let blobs: FolderBlobStore
  let store: Store
  let pool: Pool
  let url: DatabaseURL

  var blobFolder: String { "\(folder.path)/blobs" }

  /// Runs a test with a fixture, and removes it afterwards.
  static func with(_ body: (IntegrityFixture) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await withDatabase(template) { url in
      let blobs = try FolderBlobStore(folder: "\(folder.path)/blobs")
      let pool = Pool(url, size: 6)
      // What a test deletes goes at once.
      let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
      try await body(IntegrityFixture(folder: folder, blobs: blobs, store: store, pool: pool, url: url))
      await pool.close()
    }
  }

  /// Creates a sealed file that is not published, and is ready for a transaction.
  func seal(_ text: String) throws -> SealedBlob { try blobs.seal(Array(text.utf8)) }

  /// Submits a moment, and returns the id of the post.
  @discardableResult
  func submit(_ name: String, keepsSources: Bool = true) async throws -> PublicID {
    let sources = [
      NewAsset(role: .sourceFront, type: "video/quicktime", content: try seal("front \(name)")),
      NewAsset(role: .sourceBack, type: "video/quicktime", content: try seal("back \(name)")),
    ]
    var definition = try Definitions.take5Post()
    definition.keepSources = keepsSources
    return try await store.transaction(publishing: sources, pool) { [store, definition] session in
      try store.submitPost(
        PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
    }
  }

  /// Creates the outputs of a post.
  func outputs(_ name: String) throws -> [NewAsset] {
    try Definitions.take5Post().madeRoles.map { role in
      let isVideo = [.composed, .clipFront, .clipBack].contains(role)
      return NewAsset(
        role: role, type: isVideo ? "video/mp4" : "image/jpeg", content: try seal("\(role.rawValue) \(name)"),
        width: 1080, height: 1920, duration: isVideo ? 5 : nil)
    }
  }

  /// Completes the next job as a new worker.
  func work(_ name: String) async throws {
    let job = try await pool.run { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first
    }
    let claimed = try #require(job)
    let outputs = try outputs(name)
    try await store.transaction(publishing: outputs, pool) { [store] session in
      let work = try #require(try store.work(for: claimed, session))
      try store.publish(
        outputs, of: work, recipe: SHA256.digest(of: [1]), job: claimed,
        verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
    }
  }

  /// Creates a ready post.
  @discardableResult
  func post(_ name: String, keepsSources: Bool = true) async throws -> PublicID {
    let id = try await submit(name, keepsSources: keepsSources)
    try await work(name)
    try await store.collecting.collectReleased(pool)
    return id
  }

  func post(_ id: PublicID) async throws -> Post {
    let post = try await pool.run { session in try Posts.find(id, for: .unrestricted, session) }
    return try #require(post)
  }

  /// Publishes the outputs of a post's item of a run.
  func remake(_ post: PublicID, _ name: String) async throws {
    try await pool.transaction { session in try Reprocessing.schedule(session) }
    let job = try await pool.run { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try JobQueue.claim(worker: worker, queue: ReprocessJob.queue, limit: 1, session).first
    }
    let claimed = try #require(job)
    let outputs = try outputs(name)
    try await store.transaction(publishing: outputs, pool) { [store] session in
      let work = try #require(try store.work(for: claimed, session))
      #expect(work.subject == .post(post))
      try store.publish(
        outputs, of: work, recipe: SHA256.digest(of: [2]), job: claimed,
        verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
    }
  }

  static func hash(_ text: String) -> SHA256Digest { SHA256.digest(of: Array(text.utf8)) }

  func path(_ text: String) -> String { blobs.location(of: Self.hash(text)) }

  /// Overwrites a byte of a blob's file.
  func corrupt(_ text: String) throws {
    let number = open(path(text), O_WRONLY)
    guard number >= 0 else { throw SystemError(call: "open", subject: path(text)) }
    try Descriptor(owning: number).write([UInt8(ascii: "#")], at: 2)
  }

  /// Publishes a file without a row, as after a crash of its writer.
  @discardableResult
  func publishOrphan(_ text: String) throws -> SHA256Digest {
    try blobs.publish(seal(text))
    return Self.hash(text)
  }

  /// Runs statements that damage the database.
  func sql(_ statement: String) async throws {
    try await pool.run { session in try session.executeScript(statement, name: "by hand") }
  }

  func verify() async throws -> VerifyReport {
    try await Verifier(pool: pool, store: store, blobs: blobs, parallel: 4, publicationTime: .zero).run()
  }

  func codes() async throws -> [FindingCode] {
    try await verify().findings.map(\.code).sorted { $0.rawValue < $1.rawValue }
  }

  func collect(grace: Duration = .seconds(24 * 3600)) async throws -> CollectReport {
    try await Collector(pool: pool, store: store, blobs: blobs, grace: grace).run()
  }

  func dryRun(grace: Duration = .seconds(24 * 3600)) async throws -> CollectReport {
    try await Collector(pool: pool, store: store, blobs: blobs, grace: grace).dryRun()
  }

  func repair(_ remake: Remake? = nil) async throws -> [RepairFailure] {
    try await Repairer(pool: pool, store: store, blobs: blobs, remake: remake).repair(verify().findings)
  }

  /// Counts the rows of a table.
  func count(_ table: String) async throws -> Int {
    try await pool.run { try $0.execute("SELECT count(*) FROM \(table)").single().get(0) }
  }

  /// Reads the names and sizes of all files in the blob store.
  func files() throws -> Set<StoredFile> {
    var files: Set<StoredFile> = []
    for shard in 0..<blobs.shards {
      let listing = try blobs.listing(ofShard: shard)
      files.formUnion(listing.foreign)
      files.formUnion(listing.blobs.map { StoredFile(path: $0.key.hex, bytes: $0.value) })
    }
    return files
  }

  /// Starts a task during an open transaction, and returns once the task waits for a lock of the transaction, or has
  /// ended.
  static func start<Result: Sendable>(
    during session: Session, _ work: @escaping @Sendable () async throws -> Result
  ) throws -> Task<Result, any Error> {
    let hasEnded = Shared(false)
    let task = Task {
      defer { hasEnded.withLock { $0 = true } }
      return try await work()
    }
    var isWaiting = false
    let deadline = Deadline("a lock that is waited for")
    while !isWaiting, !hasEnded.withLock({ $0 }) {
      try deadline.check()
      isWaiting = try session.execute(
        """
        SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND (
          transactionid = pg_current_xact_id()::xid
          OR locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))
        """
      ).single().get(0)
    }
    return task
  }
}

extension Tag {
  /// Needs the private PostgreSQL.
  @Tag static var database: Self
}
