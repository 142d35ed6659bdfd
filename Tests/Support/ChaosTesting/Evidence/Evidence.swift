import Model
import Postgres
import Queue
import SchemaTesting

/// The evidence of a run: the ledgers of its processes, and the content of the database.
struct Evidence: Sendable {
  var ledger: [LedgerEntry] = []
  var orders: [JobOrder] = []
  var outcomes: [JobOutcome] = []
  var effects: [JobEffect] = []
  var transitions: [Transition] = []
  /// The process of each worker, by the worker's id.
  var processes: [Int64: Int32] = [:]
  /// What waits in the tables, one sentence for each of them.
  var waiting: [String] = []
}

extension Evidence {
  /// Reads a database and a folder of ledgers.
  init(folder: String, _ session: Session) throws {
    ledger = try Ledger.read(folder: folder)
    let statements = ChaosSchema.statements
    try session.snapshot { session in
      orders = try session.execute(statements["orders"]).map { row in
        JobOrder(job: try row.publicID("id"), isAbsorbed: try row.get("absorbed"))
      }
      outcomes = try session.execute(statements["outcomes"]).map(JobOutcome.init)
      effects = try session.execute(statements["effects"]).map { row in
        JobEffect(job: try row.publicID("job"), token: try row.get("token"))
      }
      transitions = try session.execute(statements["transitions"]).map(Transition.init)
      for row in try session.execute(statements["workers"]) {
        processes[try row.get("worker")] = Int32(try row.get("process", as: Int.self))
      }
      waiting = try StoredTables.violations(session)
    }
  }
}

extension JobOutcome {
  fileprivate init(_ row: Row) throws {
    let state: State =
      switch try row.get("state", as: String.self) {
      case "done a": .completed
      case "done r": .rejected
      case "done c": .cancelled
      case "dead": .dead
      default: .unfinished
      }
    self.init(
      job: try row.publicID("public_id"), state: state, token: try row.get("token"), attempt: try row.get("attempt"),
      maxAttempts: try row.get("max_attempts"), lost: try row.get("lost"))
  }
}

extension Transition {
  fileprivate init(_ row: Row) throws {
    self.init(
      at: try row.get("at"), transaction: try row.get("transaction"), job: try row.publicID("job"),
      from: try row.get("from_state"), to: try row.get("to_state"), tokenBefore: try row.get("from_token"),
      tokenAfter: try row.get("to_token"),
      worker: try row.get("worker"), lost: try row.get("lost"), runAt: try row.get("run_at"))
  }
}

/// An order that a producer committed.
struct JobOrder: Sendable, Hashable {
  let job: PublicID
  /// Whether a live job with the same unique key replaces the job.
  var isAbsorbed = false
}

/// The effect that an attempt wrote in the transaction that ended its job.
struct JobEffect: Sendable, Hashable {
  let job: PublicID
  let token: Int64
}

/// The state of a job at the end of a run.
struct JobOutcome: Sendable, Hashable {
  /// The state, from the queue's table that has the job.
  enum State: Sendable, Hashable, CaseIterable {
    case completed, rejected, cancelled, dead, unfinished
  }

  let job: PublicID
  let state: State
  /// The token of the attempt that ended the job.
  var token: Int64?
  var attempt = 1
  var maxAttempts = 5
  var lost = 0
}
