internal import Blobs
internal import Platform
internal import Postgres
internal import Queue
import Rooms
internal import Store

/// Measures how long a town of 100,000 waits that films in the same five minutes, and what that needs of PostgreSQL.
struct TownBench: Sendable {
  let folder: String

  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let folder = folder
    return ([], try await onThread("bench-town") { try Self.measure(Town.Size(), folder) })
  }

  private static func measure(_ size: Town.Size, _ folder: String) throws -> [Finding] {
    let directory = "\(folder)/town"
    try Folder.remove(directory)
    try Folder.make(directory)
    let server = try QueueServer(folder: "\(directory)/data")
    defer { server.stop() }
    let database = try server.make("town")
    try Session.connect(database, timeout: .seconds(5)).migrate()
    try server.checkpoint(database)
    let store = Store(blobs: try FolderBlobStore(folder: "\(directory)/blobs"), rooms: .all)
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
