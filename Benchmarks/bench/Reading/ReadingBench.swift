internal import Blobs
internal import EmbeddedPostgres
import Kit
internal import Platform
internal import Postgres
import Rooms
internal import Store

/// Measures the cost of reading in the database as the history grows.
struct ReadingBench: Sendable {
  private static let sizes = (small: 100_000, large: 1_000_000)
  private static let passes = 5
  private static let roundsPerPass = 100
  /// How often a query is sent on a connection, from the sixth time on by PostgreSQL's plan for unknown parameters, and on how many.
  private static let (repetitions, connections) = (12, 30)

  let folder: String

  /// A query, and what the client wants with its records.
  private struct Query: Hashable {
    let shape: ReadingShape
    var parts: Set<Inclusion.Part> = []

    static let all = ReadingShape.allCases.flatMap { shape in
      [Query(shape: shape)] + shape.inclusions.map { Query(shape: shape, parts: $0) }
    }

    /// Such as `newest.author_mine`.
    var name: String {
      ([shape.rawValue] + (parts.isEmpty ? [] : [parts.map(\.rawValue).sorted().joined(separator: "_")]))
        .joined(separator: ".")
    }

    var meaning: String {
      let names = parts.map(\.rawValue).sorted().joined(separator: ",")
      return shape.meaning + (parts.isEmpty ? "" : ", with include=\(names)")
    }
  }

  /// The costs of the queries of one pass over one database.
  private typealias Costs = [Query: [ReadingCost]]

  /// The pages that each query touches the first and the last time on a connection.
  private typealias Turns = [ReadingShape: (first: [Int], last: [Int])]

  /// All figures: that of all queries, and that of each shape.
  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let (passes, turns) = try await measure()
    let times = { (costs: Costs) in costs.values.joined().map(\.milliseconds) }
    let all = Finding(
      Figure("read.p99", "the 99th percentile of the time of all queries at 1,000,000 posts, ms", .atMost(10)),
      passes.map { Self.p99(times($0.large)) },
      details: [Finding.Detail("at 100,000, ms", passes.map { Self.p99(times($0.small)) })])
    let shapes = Query.all.map { query in
      let few = passes.map { $0.small[query] ?? [] }
      let many = passes.map { $0.large[query] ?? [] }
      return Finding(
        Figure(
          "read.\(query.name).buffers", "\(query.meaning): the pages touched at 1,000,000 posts against 100,000",
          .atMost(1.5)),
        zip(many, few).map { Self.mean($0.map(\.buffers)) / Self.mean($1.map(\.buffers)) },
        details: [
          Finding.Detail("pages at 1,000,000", many.joined().map { Double($0.buffers) }, decimals: 0),
          Finding.Detail("at 100,000", few.joined().map { Double($0.buffers) }, decimals: 0),
          Finding.Detail("rows", many.joined().map { Double($0.rows) }, decimals: 0),
          Finding.Detail("p99, ms", many.map { Self.p99($0.map(\.milliseconds)) }),
        ])
    }
    let pages = { (costs: Costs, query: Query) in Self.mean((costs[query] ?? []).map(\.buffers)) }
    let included = Query.all.filter { !$0.parts.isEmpty }.map { query in
      Finding(
        Figure("read.\(query.name).pages", "\(query.meaning): the pages touched against those without", .atMost(1.6)),
        passes.map { pages($0.large, query) / pages($0.large, Query(shape: query.shape)) }, details: [])
    }
    let polygons = Finding(
      Figure(
        "read.world_polygon.pages", "the pages touched for a polygon of the earth against one of a city", .atMost(3)),
      passes.map { pages($0.large, Query(shape: .world)) / pages($0.large, Query(shape: .city)) }, details: [])
    let maps = Finding(
      Figure("read.wide_map.pages", "the pages touched for a map of the earth against one of 0.2 degrees", .atMost(3)),
      passes.map { pages($0.large, Query(shape: .wideMap)) / pages($0.large, Query(shape: .narrowMap)) },
      details: [
        Finding.Detail(
          "time against time",
          passes.map { pass in
            let time = { (shape: ReadingShape) in
              (pass.large[Query(shape: shape)] ?? []).map(\.milliseconds).reduce(0, +)
            }
            return time(.wideMap) / time(.narrowMap)
          })
      ])
    let indexes = Query.all.map { query in
      let used = passes.flatMap { $0.large[query] ?? [] }.reduce(into: Set<String>()) { $0.formUnion($1.indexes) }
      return "\(query.name): \(used.sorted().joined(separator: ", "))"
    }
    for line in indexes { Console.progress(line) }
    let repeated = ReadingShape.allCases.compactMap { shape -> Finding? in
      guard let pages = turns[shape] else { return nil }
      let (first, last) = (Self.p99(pages.first.map(Double.init)), Self.p99(pages.last.map(Double.init)))
      return Finding(
        Figure(
          "read.\(shape.rawValue).repeated",
          "\(shape.meaning): the pages touched the twelfth time on a connection against the first, p99", .atMost(1.5)),
        [last / first],
        details: [
          Finding.Detail("pages the first time", [first], decimals: 0),
          Finding.Detail("the twelfth", [last], decimals: 0),
        ])
    }
    return ([all, maps, polygons] + repeated + included + shapes, [])
  }

  /// Queries both databases alternately, so that other load of the machine affects both.
  private func measure() async throws -> (passes: [(small: Costs, large: Costs)], turns: Turns) {
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
    let log = PlanLog(path: "\(directory)/postgres.log")
    for (pool, posts) in [(small, Self.sizes.small), (large, Self.sizes.large)] {
      Console.progress("inserting \(posts) posts")
      try await pool.run { session in
        try Migrator(.all).migrate(session)
        try ReadingData(posts: posts).generate(session)
        try PlanLog.start(session)
      }
    }
    var passes: [(small: Costs, large: Costs)] = []
    // The first pass warms the caches.
    for pass in 0...Self.passes {
      Console.progress("querying: \(pass * 100 / (Self.passes + 1)) %")
      var costs: (small: Costs, large: Costs) = ([:], [:])
      for round in 0..<Self.roundsPerPass {
        let seed = UInt64(pass * Self.roundsPerPass + round)
        for (query, cost) in try await sendRound(to: small, Self.sizes.small, log, seed) {
          costs.small[query, default: []].append(cost)
        }
        for (query, cost) in try await sendRound(to: large, Self.sizes.large, log, seed) {
          costs.large[query, default: []].append(cost)
        }
      }
      if pass > 0 { passes.append(costs) }
    }
    let turns = try await repeatQueries(of: server.url.with(database: "large"), log)
    for pool in [control, small, large] { await pool.close() }
    try await onThread("bench-postgres") { server.stop() }
    try Folder.remove(directory)
    return (passes, turns)
  }

  /// Sends each query again and again, with the same values, on new connections.
  private func repeatQueries(of url: DatabaseURL, _ log: PlanLog) async throws -> Turns {
    var turns: Turns = [:]
    for seed in 0..<Self.connections {
      let pool = Pool(url, size: 1)
      let costs = try await pool.run { session in
        try PlanLog.start(session)
        let values = try ReadingValues(of: ReadingData(posts: Self.sizes.large), seed: UInt64(seed), session)
        return try ReadingShape.allCases.map { shape in
          let pages = try (0..<Self.repetitions).map { _ in
            try log.cost(in: session) { try shape.send(values, including: [], session) }.buffers
          }
          return (shape, pages[0], pages[Self.repetitions - 1])
        }
      }
      await pool.close()
      for (shape, first, last) in costs {
        turns[shape, default: ([], [])].first.append(first)
        turns[shape, default: ([], [])].last.append(last)
      }
    }
    return turns
  }

  /// Sends one query of each kind.
  private func sendRound(
    to pool: Pool, _ posts: Int, _ log: PlanLog, _ seed: UInt64
  ) async throws -> [Query: ReadingCost] {
    try await pool.run { session in
      let data = ReadingData(posts: posts)
      let values = try ReadingValues(of: data, seed: seed, session)
      return try Query.all.reduce(into: [:]) { costs, query in
        costs[query] = try log.cost(in: session) {
          try query.shape.send(values, including: query.parts, session)
        }
      }
    }
  }

  private static func mean(_ values: [Int]) -> Double { Double(values.reduce(0, +)) / Double(max(1, values.count)) }

  private static func p99(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100]
  }
}
