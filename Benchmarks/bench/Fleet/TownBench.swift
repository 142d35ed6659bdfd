internal import Blobs
internal import Platform
internal import Postgres
internal import Queue
import Rooms
internal import Store

/// Measures how long a town of 100,000 waits that films in the same five minutes, and what that needs of PostgreSQL.
struct TownBench: Sendable {
  let folder: String
  /// The path of take5; nil: in the folder of this program.
  let take5: String?

  /// - Parameter only: the names or prefixes of figures, of which each part is measured that has one; empty: all.
  func findings(of only: [String]) async throws -> (figures: [Finding], observations: [Finding]) {
    let folder = folder
    let rush = RegistrationRush(folder: folder, program: try Programs.take5(take5))
    return try await onThread("bench-town") {
      func isWanted(_ parts: [String]) -> Bool {
        only.isEmpty || only.contains { name in parts.contains { $0.hasPrefix(name) || name.hasPrefix($0) } }
      }
      let whole = isWanted(["town.moments", "town.look"]) ? try Self.measure(Town.Size(), folder) : []
      let disturbed = isWanted(["town.disturbed", "town.comment"]) ? try Self.disturbed(folder, rush) : []
      return (disturbed + (isWanted(["town.registrations"]) ? try rush.findings() : []), whole)
    }
  }

  /// Begins what waits without a thread, for a thread that waits for it: it ends with its server.
  private static func begin<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) -> Channel<Result<Value, any Error>> {
    let end = Channel<Result<Value, any Error>>(capacity: 1)
    Task {
      do { _ = end.put(.success(try await body())) } catch { _ = end.put(.failure(error)) }
    }
    return end
  }

  private static func end<Value: Sendable>(of work: Channel<Result<Value, any Error>>) throws -> Value {
    guard let result = work.take() else { throw BenchError("the work has not ended") }
    return try result.get()
  }

  /// A smaller town, alone, and with a popular author, a busy thread and a rush of registrations.
  private static func disturbed(_ folder: String, _ rush: RegistrationRush) throws -> [Finding] {
    var size = Town.Size()
    (size.moments, size.seconds) = (6000, 60)
    var (towns, others): ([Town.Records], [Disturbance.Records]) = ([], [])
    var costs: [(rows: Double, walBytes: Double)] = []
    for isThere in [false, true] {
      let (server, database, store) = try open(folder)
      defer { server.stop() }
      let disturbance = try end(of: begin { try await Disturbance(database) })
      if !isThere { costs = try end(of: begin { try await disturbance.costs() }) }
      let town = Town(size, database: database, store: store)
      let running = begin { try await disturbance.run(isThere: isThere) }
      let registering = isThere ? begin { try await onThread("rush") { try rush.run() } } : nil
      _ = try town.run()
      disturbance.isOver.cancel()
      if let registering { try end(of: registering) }
      others.append(try end(of: running))
      towns.append(town.records.withLock { $0 })
    }
    func p99(_ values: [Double]) -> Double { Double(Statistics(values.isEmpty ? [0] : values).percentile(99)) }
    func ratio(_ name: String, _ meaning: String, _ values: [[Double]]) -> Finding {
      Finding(
        Figure(
          "town.disturbed.\(name)",
          "\(meaning) with a popular author, a busy thread and a rush against those without, p99",
          .atMost(1.5)),
        [p99(values[1]) / p99(values[0])],
        details: [
          Finding.Detail("with them", [p99(values[1])], decimals: 2),
          Finding.Detail("without", [p99(values[0])], decimals: 2),
        ])
    }
    let thread = "a comment in a thread of 5,000 against one of 10"
    return [
      ratio("look", "times to a look", towns.map(\.looks)),
      ratio("ready", "times to a composition", towns.map { $0.opened + $0.others }),
      Finding(
        Figure("town.disturbed.event", "time until an unrelated event is passed on meanwhile, ms, p99", .atMost(2000)),
        [p99(others[1].placed)],
        details: [
          Finding.Detail("without, ms", [p99(others[0].placed)], decimals: 0),
          Finding.Detail("events", others.map { Double($0.events) }, decimals: 0),
        ]),
      Finding(
        Figure("town.comment.rows", "the events of \(thread)", .atMost(8)), [costs[1].rows / costs[0].rows],
        details: [Finding.Detail("events", [costs[1].rows], decimals: 1)]),
      Finding(
        Figure("town.comment.wal", "the write-ahead log of \(thread)", .atMost(8)),
        [costs[1].walBytes / costs[0].walBytes],
        details: [Finding.Detail("KiB", [costs[1].walBytes / 1024], decimals: 1)]),
    ]
  }

  /// A new database in a server of its own.
  private static func open(_ folder: String) throws -> (server: QueueServer, database: DatabaseURL, store: Store) {
    let directory = "\(folder)/town"
    try Folder.remove(directory)
    try Folder.make(directory)
    let server = try QueueServer(folder: "\(directory)/data")
    let database = try server.make("town")
    try Session.connect(database, timeout: .seconds(5)).migrate()
    try server.checkpoint(database)
    return (server, database, Store(blobs: try FolderBlobStore(folder: "\(directory)/blobs"), rooms: .all))
  }

  private static func measure(_ size: Town.Size, _ folder: String) throws -> [Finding] {
    let (server, database, store) = try open(folder)
    defer { server.stop() }
    let (before, processors) = (try server.cost(of: database), try ServerProcessors(database))
    let town = Town(size, database: database, store: store)
    let seconds = try town.run()
    let (busy, after) = (try processors.seconds(), try server.cost(of: database))
    let records = town.records.withLock { $0 }
    let moments = Double(size.moments)
    func finding(_ name: String, _ meaning: String, _ values: [Double], decimals: Int = 1) -> Finding {
      let statistics = Statistics(values)
      let details = [("99th percentile", Double(statistics.percentile(99))), ("longest", statistics.max)]
      return Finding(
        Figure("town.\(name)", meaning, decimals: decimals), values,
        details: values.count > 1 ? details.map { Finding.Detail($0, [$1], decimals: decimals) } : [])
    }
    return [
      finding("moments", "moments that are submitted in five minutes", [moments], decimals: 0),
      finding("machines", "machines, each with \(size.slots.compositions) slots", [Double(size.machines)], decimals: 0),
      finding("look", "time from a submission to its look, s", records.looks, decimals: 2),
      finding("ready.opened", "time to the composition of a post that a client opens after 5 s, s", records.opened),
      finding("ready.others", "time to the composition of another, s", records.others),
      finding("end", "time until the last one is composed, s", [seconds]),
      finding("submission", "duration of the statements of a submission for the queue, ms", records.submissions),
      finding("processors", "processors that PostgreSQL uses for the queue", [busy / seconds], decimals: 2),
      finding("transactions", "transactions a second", [(after.commits - before.commits) / seconds], decimals: 0),
      finding(
        "wal", "write-ahead log of a moment for the queue, KiB", [(after.walBytes - before.walBytes) / moments / 1024]),
    ]
  }
}
