import BlobTesting
import Blobs
import Crypto
import Definitions
import Glibc
import Integrity
import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import Rooms
import Store
import Telemetry
import Testing

@testable import Queue
@testable import Worker

extension TestClock: WorkerClock {}

/// A store in a database of its own, and handlers with media processes of the test's.
struct WorkerFixture {
  private static let template = TestTemplate(name: "worker") { session in
    try Migrator(.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  static let log = Logger { _ in }

  let folder: TemporaryFolder
  let blobs: FolderBlobStore
  let store: Store
  let pool: Pool
  let url: DatabaseURL
  let clock = TestClock()
  let metrics = Metrics()

  static func with(_ body: (WorkerFixture) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await withDatabase(template) { url in
      let blobs = try FolderBlobStore(folder: "\(folder.path)/blobs")
      let pool = Pool(url, size: 4)
      // What a test deletes goes at once.
      let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
      try await body(WorkerFixture(folder: folder, blobs: blobs, store: store, pool: pool, url: url))
      await pool.close()
    }
  }

  // MARK: Submissions

  private func seal(_ text: String) throws -> SealedBlob { try blobs.seal(Array(text.utf8)) }

  /// Submits a post of photos, and returns its id.
  @discardableResult
  func submit(photos: [String] = ["photo"], attempts: Int = 4) async throws -> PublicID {
    try await submit(photos: photos.map { Array($0.utf8) }, attempts: attempts)
  }

  /// Submits a post of photos with a deadline, and returns its id.
  @discardableResult
  func submit(photos: [[UInt8]], attempts: Int = 4, deadlineSeconds: Int = 240) async throws -> PublicID {
    let sources = try photos.enumerated().map { index, bytes in
      NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try blobs.seal(bytes), place: index)
    }
    var definition = try photoDefinition
    definition.attempts = attempts
    definition.deadlineSeconds = deadlineSeconds
    return try await store.transaction(publishing: sources, pool) { [store, definition] session in
      try store.submitPost(
        PostDraft(kind: .photo, author: "ada"), sources: sources, definition: .photos(definition), request: nil,
        session)
    }
  }

  /// Submits a post of two clips, and returns its id.
  func submitMoment(front: String = "front", back: String = "back") async throws -> PublicID {
    let sources = [
      NewAsset(role: .sourceFront, type: "video/mp4", content: try seal(front)),
      NewAsset(role: .sourceBack, type: "video/mp4", content: try seal(back)),
    ]
    let definition = try Definitions.take5Post()
    return try await store.transaction(publishing: sources, pool) { [store] session in
      try store.submitPost(
        PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
    }
  }

  private var photoDefinition: PhotoDefinition {
    get throws { try #require(try Definitions.photo("photo-post")) }
  }

  /// Starts a run over all posts of photos, and returns its id.
  ///
  /// - Parameters:
  ///   - isForced: whether outputs are made again even if their recipe has not changed.
  ///   - rate: items per second; nil: no limit.
  func reprocess(isForced: Bool = false, rate: Double? = nil) async throws -> PublicID {
    var request = ReprocessRequest(
      ReprocessSelection(), definitions: [.photo: [try StoredDefinition(try photoDefinition)]])
    (request.isForced, request.rate) = (isForced, rate)
    let run = try await pool.transaction { [request] session in
      let run = try Reprocessing.create(request, session)
      _ = try Reprocessing.schedule(session)
      return run
    }
    return try #require(run)
  }

  // MARK: Attempts

  /// Claims the next job as a new worker.
  func claim(from queue: String = PostJob.queue) async throws -> HeldJob {
    let job = try await pool.run { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try JobQueue.claim(worker: worker, queue: queue, limit: 1, session).first
    }
    return HeldJob(try #require(job), metrics: WorkerMetrics(metrics))
  }

  /// - Parameter pool: nil: the fixture's.
  func handler(_ media: any MediaRunner..., slots: Int = 1, pool: Pool? = nil) -> MediaHandler {
    MediaHandler(
      free: FreeSlots(media), slots: slots, pool: pool ?? self.pool, store: store, blobs: blobs,
      damages: DamageRecorder(blobs: blobs, log: Self.log, metrics: metrics), clock: clock)
  }

  /// Claims the next job, also one that waits for another attempt, and handles it.
  @discardableResult
  func attempt(_ media: FakeMedia, isAlone: Bool = true, slots: Int = 1) async throws -> ServiceHealth {
    try await pool.run { session in
      try session.execute("UPDATE job SET run_at = clock_timestamp() WHERE state = 's'")
      _ = try JobQueue.promote(session)
    }
    return await handler(media, slots: slots).handle(try await claim(), isAlone: isAlone, log: Self.log)
  }

  /// Takes all jobs from their workers.
  func reap() async throws {
    try await pool.transaction { session in
      try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
      try JobControl.fail(try JobQueue.reap(session), session)
    }
  }

  /// Moves the folder of the store away, as if its file system were not mounted.
  func unmount() throws {
    try #require(rename("\(folder.path)/blobs", "\(folder.path)/away") == 0)
  }

  // MARK: Results

  func job(_ id: PublicID) async throws -> JobRecord {
    let job = try await pool.run { try JobQueue.find(id, $0) }
    return try #require(job)
  }

  func post(_ id: PublicID) async throws -> Post {
    let post = try await pool.run { try Posts.find(id, for: .unrestricted, $0) }
    return try #require(post)
  }

  func quarantined() async throws -> [QuarantinedMedia] {
    try await pool.run { session in try Quarantine.list(session) }
  }

  /// The blob of the first submitted photo of a job.
  func source(of job: ClaimedJob) async throws -> SHA256Digest {
    let found = try await pool.run { [store] session in try store.work(for: job, session) }
    let work = try #require(found)
    guard case .photos(let photos) = work.content else { throw MediaFailure(.internal, "not a job for photos") }
    return try #require(photos.photos.first)
  }

  /// The outcomes of attempts in the metrics, each with its number.
  var outcomes: [String: Int] {
    var outcomes: [String: Int] = [:]
    for line in metrics.text().split(separator: "\n") where line.hasPrefix("take5_jobs_total{") {
      let outcome = line.split(separator: "outcome=\"").last?.prefix { $0 != "\"" }
      guard let outcome, let count = line.split(separator: " ").last.flatMap({ Int($0) }) else { continue }
      outcomes[String(outcome), default: 0] += count
    }
    return outcomes
  }

  /// The rows that endings write.
  func rows() async throws -> [String] {
    try await pool.run { session in
      try [
        "job", "job_done", "job_dead", "post", "asset_set", "media_crash", "quarantined_input", "reprocess_item",
        "forgotten_user",
      ].flatMap { table in
        try session.execute(Statement(stringLiteral: "SELECT \(table)::text FROM \(table) ORDER BY 1"))
          .map { try $0.get(0, as: String.self) }
      }
    }
  }
}

extension Tag {
  /// Uses the PostgreSQL server of the test run.
  @Tag static var database: Self
}
