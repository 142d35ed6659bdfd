internal import Blobs
internal import EmbeddedPostgres
internal import Platform
internal import Postgres
import SeededRandom
internal import Store

/// Measures the cost of lists in the database as the history grows.
struct ReadingBench: Sendable {
  private static let sizes = (small: 100_000, large: 1_000_000)
  private static let passes = 5
  private static let queriesPerPass = 400

  let folder: String

  /// The costs of the queries of one pass over one database, by shape.
  private typealias Costs = [ReadingShape: [ReadingCost]]

  /// All figures, the one with a goal first.
  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let passes = try await measure()
    let times = { (costs: Costs) in costs.values.joined().map(\.milliseconds) }
    let figure = Figure(
      "read.p99.million_vs_hundred_thousand",
      "the 99th percentile of all queries, at 1,000,000 posts against 100,000",
      .atMost(1.5))
    let ratio = Finding(
      figure, passes.map { Self.p99(times($0.large)) / Self.p99(times($0.small)) },
      details: [
        Finding.Detail("at 1,000,000, ms", passes.map { Self.p99(times($0.large)) }),
        Finding.Detail("at 100,000, ms", passes.map { Self.p99(times($0.small)) }),
      ])
    let observations = ReadingShape.allCases.map { shape in
      let few = passes.map { $0.small[shape]?.map(\.milliseconds) ?? [] }
      let many = passes.map { $0.large[shape]?.map(\.milliseconds) ?? [] }
      let small = passes.flatMap { $0.small[shape] ?? [] }
      let large = passes.flatMap { $0.large[shape] ?? [] }
      return Finding(
        Figure(
          "read.\(shape.rawValue).p99.million_vs_hundred_thousand", "\(shape.meaning), by \(Self.access(large))"),
        zip(many, few).map { Self.p99($0) / Self.p99($1) },
        details: [
          Finding.Detail("p99 at 1,000,000, ms", many.map(Self.p99)),
          Finding.Detail("all at 1,000,000, ms", large.map(\.milliseconds)),
          Finding.Detail("rows", large.map { Double($0.rows) }, decimals: 0),
          Finding.Detail("buffers", large.map { Double($0.buffers) }, decimals: 0),
          Finding.Detail("buffers at 100,000", small.map { Double($0.buffers) }, decimals: 0),
        ])
    }
    return ([ratio], observations)
  }

  /// Queries both databases alternately, so that other load of the machine affects both.
  private func measure() async throws -> [(small: Costs, large: Costs)] {
    let directory = "\(folder)/reading"
    try Folder.remove(directory)
    let server = try await onThread("bench-postgres") {
      try EmbeddedPostgres.start(EmbeddedPostgres.Configuration(dataFolder: directory))
    }
    let control = Pool(server.url, size: 1)
    for name in ["small", "large"] {
      try await control.run { try $0.executeScript("CREATE DATABASE \(name)", name: "bench.create") }
    }
    let (small, large) = (
      Pool(server.url.with(database: "small"), size: 1), Pool(server.url.with(database: "large"), size: 1)
    )
    let store = Store(blobs: try FolderBlobStore(folder: "\(directory)/blobs"))
    for (pool, posts) in [(small, Self.sizes.small), (large, Self.sizes.large)] {
      Console.progress("inserting \(posts) posts")
      try await pool.run { session in
        try Migrator(StoreMigrations.all).migrate(session)
        try ReadingData(posts: posts).generate(session)
      }
    }
    var passes: [(small: Costs, large: Costs)] = []
    // The first pass warms the caches.
    for pass in 0...Self.passes {
      Console.progress("querying: \(pass * 100 / (Self.passes + 1)) %")
      var costs: (small: Costs, large: Costs) = ([:], [:])
      for query in 0..<Self.queriesPerPass {
        let seed = UInt64(pass * Self.queriesPerPass + query)
        for (shape, cost) in try await runQueries(on: small, Self.sizes.small, store, seed) {
          costs.small[shape, default: []].append(cost)
        }
        for (shape, cost) in try await runQueries(on: large, Self.sizes.large, store, seed) {
          costs.large[shape, default: []].append(cost)
        }
      }
      if pass > 0 { passes.append(costs) }
    }
    for pool in [control, small, large] { await pool.close() }
    try await onThread("bench-postgres") { server.stop() }
    try Folder.remove(directory)
    return passes
  }

  /// Runs one query of each shape.
  private func runQueries(
    on pool: Pool, _ posts: Int, _ store: Store, _ seed: UInt64
  ) async throws -> [ReadingShape: ReadingCost] {
    try await pool.run { session in
      var random = SplitMix64(seed: seed)
      let data = ReadingData(posts: posts)
      return try ReadingShape.allCases.reduce(into: [:]) { costs, shape in
        costs[shape] = try ReadingCost(plan: shape.plan(of: data, store: store, random: &random, session))
      }
    }
  }

  private static func p99(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100]
  }

  private static func access(_ costs: [ReadingCost]) -> String {
    let counts = Dictionary(grouping: costs, by: \.access).mapValues(\.count)
    return counts.max { $0.value < $1.value }?.key ?? "nothing"
  }
}
