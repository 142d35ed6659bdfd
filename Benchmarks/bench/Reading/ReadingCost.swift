import FoundationEssentials
internal import Platform
internal import Postgres

/// The cost of one query of an app, which may be several statements.
struct ReadingCost: Sendable {
  /// The time in the database, without planning.
  var milliseconds = 0.0
  /// The number of returned rows.
  var rows = 0
  /// The pages of 8 KiB that the statements touched, cached or not.
  var buffers = 0
  /// The indexes that the plans scan.
  var indexes: Set<String> = []
}

/// Reads what PostgreSQL's module auto_explain writes of each statement of a session: the plan that production uses, of a
/// prepared statement with its parameters (PostgreSQL manual, F.4).
struct PlanLog {
  private let path: String

  /// - Parameter path: the log of the server.
  init(path: String) { self.path = path }

  /// Makes a session log the plan of each statement.
  static func start(_ session: Session) throws {
    try session.executeScript(
      """
      LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
      SET auto_explain.log_buffers = on; SET auto_explain.log_timing = off; SET auto_explain.log_format = json
      """, name: "bench.explain")
  }

  /// Returns the cost of the statements that `body` sends in a session.
  func cost(in session: Session, of body: () throws -> Void) throws -> ReadingCost {
    let start = try size()
    try body()
    // The server writes the plan of a statement as it ends it, which may be after its rows were read; it has ended all
    // statements before it answers the next one, and an empty one has no plan.
    try session.executeScript(";", name: "bench.end")
    return try Self.cost(text(from: start))
  }

  private func size() throws -> Int64 { try Descriptor(reading: path).size() }

  private func text(from start: Int64) throws -> String {
    let file = try Descriptor(reading: path)
    return String(decoding: try file.bytes(count: Int(file.size() - start), at: start), as: UTF8.self)
  }

  private static func cost(_ log: String) throws -> ReadingCost {
    var cost = ReadingCost()
    // An entry is 'TIME LOG:  duration: 0.123 ms  plan:' and the lines of JSON, which begin with a tab.
    for entry in log.split(separator: "LOG:  duration: ").dropFirst() {
      let (head, rest) = (entry.prefix { $0 != "\n" }, entry.drop { $0 != "\n" })
      let json = rest.split(separator: "\n").prefix { $0.hasPrefix("\t") }.joined(separator: "\n")
      guard let milliseconds = Double(head.prefix { $0 != " " }) else { throw BenchError("not a plan: \(head)") }
      let plan = try JSONDecoder().decode(Entry.self, from: Data(json.utf8)).plan
      cost.milliseconds += milliseconds
      cost.rows += Int(plan.rows)
      cost.buffers += plan.hit + plan.read
      cost.indexes.formUnion(plan.indexes)
    }
    return cost
  }

  private struct Entry: Decodable {
    let plan: Plan
    enum CodingKeys: String, CodingKey { case plan = "Plan" }
  }

  private struct Plan: Decodable {
    let rows: Double
    let hit: Int
    let read: Int
    private let index: String?
    private let plans: [Plan]?

    enum CodingKeys: String, CodingKey {
      case rows = "Actual Rows"
      case hit = "Shared Hit Blocks"
      case read = "Shared Read Blocks"
      case index = "Index Name"
      case plans = "Plans"
    }

    var indexes: Set<String> { (plans ?? []).reduce(Set([index].compactMap { $0 })) { $0.union($1.indexes) } }
  }
}
