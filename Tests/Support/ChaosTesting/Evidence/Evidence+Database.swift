import Model
package import Postgres
import Queue

extension Evidence {
  /// Reads what a database and a folder of ledgers hold.
  package init(folder: String, _ session: Session) throws {
    ledger = try Ledger.read(folder: folder)
    let statements = ChaosSchema.statements
    try session.snapshot { session in
      orders = try session.execute(statements["orders"]).map { row in
        JobOrder(try row.publicID("id"), isAbsorbed: try row.get("absorbed"))
      }
      fates = try session.execute(statements["fates"]).map(JobFate.init)
      effects = try session.execute(statements["effects"]).map { row in
        JobEffect(try row.publicID("job"), token: try row.get("token"))
      }
      passages = try session.execute(statements["passages"]).map(Passage.init)
      firings = try session.execute(statements["cron_entries"]).count
      for row in try session.execute(statements["workers"]) {
        processes[try row.get("worker")] = Int32(try row.get("process", as: Int.self))
      }
    }
  }
}

extension JobFate {
  fileprivate init(_ row: Row) throws {
    let place: Place =
      switch try row.get("place", as: String.self) {
      case "done a": .completed
      case "done r": .rejected
      case "done c": .cancelled
      case "dead": .dead
      default: .live
      }
    self.init(
      try row.publicID("public_id"), place, token: try row.get("token"), attempt: try row.get("attempt"),
      maxAttempts: try row.get("max_attempts"), lost: try row.get("lost"),
      isOfCron: try row.get("kind", as: String.self) == "cron")
  }
}

extension Passage {
  fileprivate init(_ row: Row) throws {
    self.init(
      at: try row.get("at"), transaction: try row.get("transaction"), job: try row.publicID("job"),
      from: try row.get("from_state"), to: try row.get("to_state"), tokenBefore: try row.get("from_token"),
      tokenAfter: try row.get("to_token"),
      worker: try row.get("worker"), lost: try row.get("lost"), runAt: try row.get("run_at"))
  }
}
