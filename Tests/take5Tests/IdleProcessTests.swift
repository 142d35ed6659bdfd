import Blobs
import FoundationEssentials
import Glibc
import Platform
import Postgres
import PostgresTesting
import Store
import Telemetry
import Testing

@testable import Kit
@testable import Queue
@testable import Rooms
@testable import Worker
@testable import take5

/// What services and workers that have nothing to do send to the database. `TAKE5_WRITE_DOCS=1` writes the table in `docs/scaling.md`.
@Suite("Idle processes", .tags(.database), .timeLimit(.minutes(60)))
struct IdleProcessTests {
  private static let path = "\(#filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined())/docs/scaling.md"
  private static let begin = "<!-- written by a test: begin -->\n"
  private static let end = "<!-- written by a test: end -->"

  private static let template = TestTemplate(name: "idle_processes") { session in
    try Migrator(.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  private enum Performer: String, CaseIterable {
    case eachWorker = "each worker"
    case oneWorker = "one worker for all"
    case eachService = "each service"
  }

  /// What is done again and again.
  private struct Periodic {
    let name: String
    let performer: Performer
    /// The shortest pause.
    let seconds: Double
    let round: (Pool) async throws -> Void

    init(
      _ name: String, _ performer: Performer, every interval: Duration, _ round: @escaping (Pool) async throws -> Void
    ) {
      self.name = name
      self.performer = performer
      seconds = interval / .seconds(1)
      self.round = round
    }
  }

  /// A database, and what counts its transactions from outside.
  private struct Meter {
    let pool: Pool
    let observer: Pool
    let name: String

    /// The transactions of a round that finds nothing to do.
    func transactions(_ round: (Pool) async throws -> Void) async throws -> Int {
      var counts: [Int] = []
      // The first round prepares statements, and autovacuum commits too.
      for _ in 0..<3 {
        let before = try await committed()
        try await round(pool)
        counts.append(try await committed() - before - 1)
      }
      return try #require(counts.min())
    }

    /// The commits so far, among them the own one of this call.
    private func committed() async throws -> Int {
      // What a session has committed is reported when it has also read a table.
      try await pool.run {
        _ = try $0.execute("SELECT pg_stat_force_next_flush() FROM (SELECT count(*) FROM worker) AS read")
      }
      return try await observer.run { [name] session in
        try session.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = $1", .text(name)).single()
          .get(0, as: Int.self)
      }
    }
  }

  /// The shortest interval of polls while a listener is connected.
  private static let pollInterval = Duration.seconds(24)

  /// What the loops of a worker send.
  private static func loops(of configuration: QueueWorkerConfiguration) -> [Periodic] {
    let heartbeat = configuration.heartbeatInterval
    let poll = pollInterval
    return [
      Periodic("heartbeat", .eachWorker, every: heartbeat) { pool in
        try await pool.run { _ = try JobQueue.heartbeat(worker: 1, holding: [], $0) }
      },
      Periodic("whose turn it is", .eachWorker, every: heartbeat) { pool in
        try await pool.run { _ = try JobQueue.takeTurn(worker: 1, seconds: 20, $0) }
      },
      Periodic("polls of five queues", .eachWorker, every: poll) { pool in
        for queue in [PostJob.queue, JobKinds.taskQueue, ReprocessJob.queue, "webhooks", "push"] {
          try await pool.run { session in
            _ = try JobQueue.claim(worker: 1, queue: queue, limit: 1, session)
            // Submissions alone have limits and head starts.
            if queue == PostJob.queue { _ = try JobQueue.remaining(in: queue, session) }
          }
        }
      },
      Periodic("schedule", .oneWorker, every: poll) { pool in
        _ = try await pool.transaction { session in
          _ = try JobQueue.promote(session)
          return try JobQueue.nextDue(session)
        }
      },
    ]
  }

  /// The tasks of a worker, as it repeats them.
  private static func tasks(_ store: Store, _ blobs: FolderBlobStore, _ url: DatabaseURL, _ pool: Pool) throws
    -> [Periodic]
  {
    let service = try WorkerService(
      configuration: WorkerConfiguration(), database: url, pool: pool, store: store, blobs: blobs,
      tasks: Window.opening(by: nil, pause: .seconds(1), Logger { _ in }), log: Logger { _ in }, metrics: Metrics())
    let configuration = QueueWorkerConfiguration()
    let maintenance = Maintenance(
      worker: 1, configuration: configuration, pool: pool, onReaped: { _, _ in }, tasks: service.worker.tasks,
      tables: store.rooms.settingAside,
      metrics: WorkerMetrics(Metrics()), polling: Polling(interval: configuration.pollInterval), schedule: WakeUp(),
      log: Logger { _ in })
    return (maintenance.queueTasks + maintenance.tasks).map { task in
      Periodic(
        task.name, task.performer == .oneWorker ? .oneWorker : .eachWorker,
        every: task.channel == nil ? max(task.interval, configuration.pollInterval) : pollInterval
      ) { pool in _ = try await task.body(pool) }
    }
  }

  /// What a service does apart from its requests. Streams and waiting clients cost nothing unless there are some.
  private static func service(
    _ store: Store, _ blobs: FolderBlobStore, _ url: DatabaseURL, _ pool: Pool
  ) throws -> [Periodic] {
    var pooled = url
    pooled.pooling = .transaction
    let access = AccessControl(
      operatorKey: nil, isLoopback: true, limits: RateLimits(RateLimits.Configuration(), now: { 0 }),
      tokens: UserTokenCache(pool), now: { 0 })
    let api = ControlAPI(
      database: pool, lists: pool, store: store, blobs: blobs, definitions: try SubmissionDefinitions.builtIn(),
      access: access,
      changes: try Changes(database: pool, url: pooled, access: access, log: Logger { _ in }, metrics: Metrics()),
      metrics: Metrics(), scrub: ScrubQueue(), log: Logger { _ in })
    return [
      Periodic("keys and suspensions", .eachService, every: AccessControl.refreshInterval) { pool in
        try await access.refresh(pool)
      },
      Periodic("posts that await uploads", .eachService, every: LocalUploads.roundInterval) { _ in
        await api.uploads.uploads.reconsiderAll()
      },
      Periodic("collect", .eachService, every: LocalUploads.collectInterval) { _ in
        await api.uploads.uploads.collectReleased()
      },
      Periodic("uploads of the service", .eachService, every: LocalUploads.expiryInterval) { _ in
        await api.uploads.uploads.removeExpired()
      },
    ]
  }

  @Test(
    "an idle service with a worker sends at most one and a half transactions a second, half a one for its keys"
  )
  func idle() async throws {
    try await withDatabase(Self.template) { url in
      let folder = try TemporaryFolder()
      let blobs = try FolderBlobStore(folder: "\(folder.path)/blobs")
      let store = Store(blobs: blobs, rooms: .all)
      let pool = Pool(url, size: 1)
      let observer = Pool(url.with(database: "postgres"), size: 1)
      let meter = Meter(pool: pool, observer: observer, name: url.database ?? "")
      var rows: [String] = []
      var sums: [Performer: Double] = [:]
      let all =
        try Self.loops(of: QueueWorkerConfiguration()) + Self.tasks(store, blobs, url, pool)
        + Self.service(store, blobs, url, pool)
      for performer in Performer.allCases {
        for periodic in all where periodic.performer == performer {
          let count = try await meter.transactions(periodic.round)
          let rate = Double(count) / periodic.seconds
          sums[performer, default: 0] += rate
          rows.append(
            "| \(periodic.name) | \(performer.rawValue) | \(Int(periodic.seconds)) s | \(count) | \(Self.text(rate)) |")
        }
        rows.append("| together | \(performer.rawValue) | | | \(Self.text(sums[performer] ?? 0)) |")
      }
      await pool.close()
      await observer.close()
      #expect(sums.values.reduce(0, +) <= 1.5)
      #expect(sums[.eachWorker] ?? 1 <= 0.5)
      // Half a one is the price of revocations that take effect within two seconds.
      #expect((sums[.eachWorker] ?? 1) + (sums[.eachService] ?? 1) <= 1)
      try Self.compare(rows)
    }
  }

  private static func text(_ rate: Double) -> String {
    let thousandths = Int((rate * 1000).rounded())
    return "\(thousandths / 1000).\("\(1000 + thousandths % 1000)".dropFirst())"
  }

  private static func compare(_ rows: [String]) throws {
    let table =
      (["| what | who | every | transactions | a second |", "|---|---|---|---|---|"] + rows).joined(separator: "\n")
      + "\n"
    let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    let head = try #require(text.firstRange(of: begin))
    let tail = try #require(text[head.upperBound...].firstRange(of: end))
    if getenv("TAKE5_WRITE_DOCS") != nil {
      let written = text[..<head.upperBound] + table + text[tail.lowerBound...]
      try Data(written.utf8).write(to: URL(filePath: path))
    }
    #expect(text[head.upperBound..<tail.lowerBound] == table)
  }
}

extension Tag {
  /// Uses the PostgreSQL server of the test run.
  @Tag static var database: Self
}
