import FoundationEssentials
package import Postgres

/// The plan of a statement, as it was executed.
package struct StatementPlan {
  private let nodes: [Node]

  /// - Parameter text: what EXPLAIN prints with ANALYZE and FORMAT JSON.
  private init(_ text: String) throws {
    nodes = try JSONDecoder().decode([Explained].self, from: Data(text.utf8)).map(\.plan)
  }

  /// Executes a statement, or a prepared one by `EXECUTE`.
  package init(of text: String, _ parameters: [Parameter] = [], _ session: Session) throws {
    let explain = Statement(name: "explain", text: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) \(text)")
    try self.init(session.execute(explain, parameters).map { try $0.get(0, as: String.self) }.joined())
  }

  /// The pages that the statement has read, each as often as it did: of the cache, and of files.
  package var pages: Int { nodes.reduce(0) { $0 + ($1.hits ?? 0) + ($1.reads ?? 0) } }

  /// What the scans of tables and indexes have read.
  package var rowsRead: Int { rows(besides: nil) }

  /// The same without the scans of one table.
  package func rows(besides table: String?) -> Int { Int(nodes.reduce(0) { $0 + $1.rows(besides: table) }) }

  private struct Explained: Decodable {
    let plan: Node

    enum CodingKeys: String, CodingKey { case plan = "Plan" }
  }

  private struct Node: Decodable {
    let type: String
    let table: String?
    let rows: Double
    let loops: Double
    let filtered: Double?
    let rechecked: Double?
    let hits: Int?
    let reads: Int?
    let plans: [Node]?

    enum CodingKeys: String, CodingKey {
      case type = "Node Type"
      case table = "Relation Name"
      case rows = "Actual Rows"
      case loops = "Actual Loops"
      case filtered = "Rows Removed by Filter"
      case rechecked = "Rows Removed by Index Recheck"
      case hits = "Shared Hit Blocks"
      case reads = "Shared Read Blocks"
      case plans = "Plans"
    }

    func rows(besides excepted: String?) -> Double {
      let isScan = type.hasSuffix("Scan") && !type.hasPrefix("CTE") && (table == nil || table != excepted)
      let own = isScan ? (rows + (filtered ?? 0) + (rechecked ?? 0)) * loops : 0
      return (plans ?? []).reduce(own) { $0 + $1.rows(besides: excepted) }
    }
  }
}
