internal import Blobs
import Glibc
internal import Platform
internal import Postgres
internal import Queue
import Rooms
internal import Store

/// Measures what the claims, heartbeats and maintenance of 10, 100 and 1,000 workers cost one PostgreSQL.
///
/// The workers are simulated: each sends the statements of `take5 worker` with one slot when a real one would that receives
/// notifications, but a few connections send them for all. First all are idle. Then half are busy, with jobs of five seconds.
struct FleetBench: Sendable {
  private static let sizes = [10, 100, 1000]
  private static let seconds = 20.0

  let folder: String

  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let folder = folder
    let measured = try await onThread("bench-fleet") { try Self.sizes.map { try Self.measure($0, folder) } }
    let few = measured[0].transactionsPerJob
    let figures = zip(Self.sizes, measured).dropFirst().map { workers, fleet in
      Finding(
        Figure(
          "fleet.\(workers).job", "\(workers) workers: the transactions of a job against those at \(Self.sizes[0])",
          .atMost(3)),
        [fleet.transactionsPerJob / few],
        details: [
          Finding.Detail("transactions", [fleet.transactionsPerJob], decimals: 1),
          Finding.Detail("at \(Self.sizes[0])", [few], decimals: 1),
        ])
    }
    return (figures, measured.flatMap(\.findings))
  }

  /// What was measured of one number of workers; the transactions of a job are those beyond what the idle workers send.
  private typealias Measured = (findings: [Finding], transactionsPerJob: Double)

  private static func measure(_ workers: Int, _ folder: String) throws -> Measured {
    let directory = "\(folder)/fleet"
    try Folder.remove(directory)
    try Folder.make(directory)
    let server = try QueueServer(folder: "\(directory)/data")
    defer { server.stop() }
    let database = try server.make("fleet")
    try Session.connect(database, timeout: .seconds(5)).migrate()
    try server.checkpoint(database)
    Console.progress("\(workers) workers")
    let store = Store(blobs: try FolderBlobStore(folder: "\(directory)/blobs"), rooms: .all)
    let empty = try server.cost(of: database)
    try Fleet(workers: workers, database: database, store: store).run(seconds: seconds, isIdle: true)
    let before = try server.cost(of: database)
    let processors = try ServerProcessors(database)
    let fleet = Fleet(workers: workers, database: database, store: store)
    try fleet.run(seconds: seconds, isIdle: false)
    let busy = try processors.seconds()
    let after = try server.cost(of: database)
    let records = fleet.records.withLock { $0 }
    let jobs = Double(max(records.claims.count, 1))
    func finding(_ name: String, _ meaning: String, _ values: [Double], decimals: Int) -> Finding {
      Finding(
        Figure("fleet.\(workers).\(name)", "\(workers) workers: \(meaning)", decimals: decimals),
        values.isEmpty ? [0] : values, details: [])
    }
    func percentile(_ values: [Double]) -> Double {
      values.isEmpty ? 0 : values.sorted()[min(values.count - 1, values.count * 99 / 100)]
    }
    let idle = before.commits - empty.commits
    let findings = [
      finding(
        "idle", "transactions a second while all are idle", [idle / seconds], decimals: 1),
      finding("processors", "processors that PostgreSQL uses", [busy / seconds], decimals: 2),
      finding("transactions", "transactions a second", [(after.commits - before.commits) / seconds], decimals: 0),
      finding("wal", "write-ahead log of a job, KiB", [(after.walBytes - before.walBytes) / jobs / 1024], decimals: 1),
      finding("wait", "time from the submission to the claim of a job, ms", records.claims, decimals: 1),
      finding("wait.p99", "its 99th percentile, ms", [percentile(records.claims)], decimals: 1),
      finding("late", "99th percentile of the delay of a heartbeat, ms", [percentile(records.delays)], decimals: 1),
    ]
    return (findings, max(0, after.commits - before.commits - idle) / jobs)
  }
}

extension Session {
  func migrate() throws { try Migrator(.all).migrate(self) }
}

/// The time that the processes of a PostgreSQL server have used.
struct ServerProcessors {
  private let postmaster: Int32
  private let before: Double

  /// - Parameter database: one of the server's.
  init(_ database: DatabaseURL) throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    let backend = try session.execute("SELECT pg_backend_pid()").single().get(0, as: Int.self)
    guard let parent = try Self.fields(ofProcess: "\(backend)")?[1], let number = Int32(parent) else {
      throw BenchError("the process of PostgreSQL is not known", status: EX_SOFTWARE)
    }
    postmaster = number
    before = try Self.seconds(postmaster)
  }

  /// The time since this value was made, in seconds of one processor.
  func seconds() throws -> Double { try Self.seconds(postmaster) - before }

  /// The time of the postmaster, of its children, and of those that have ended.
  private static func seconds(_ postmaster: Int32) throws -> Double {
    var ticks = 0.0
    for name in try Folder.names(in: "/proc") {
      guard let process = Int32(name), let fields = try Self.fields(ofProcess: name),
        process == postmaster || Int32(fields[1]) == postmaster
      else { continue }
      let used = process == postmaster ? 11...14 : 11...12
      ticks += used.reduce(0) { $0 + (Double(fields[$1]) ?? 0) }
    }
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The fields of proc(5), `stat`, from the state on; nil if the process has ended.
  private static func fields(ofProcess name: String) throws -> [Substring]? {
    guard let bytes = try? Descriptor(reading: "/proc/\(name)/stat").bytes(count: 1024, at: 0) else { return nil }
    // The name of the program, which may have spaces, ends with the last parenthesis.
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 15 ? fields : nil
  }
}
