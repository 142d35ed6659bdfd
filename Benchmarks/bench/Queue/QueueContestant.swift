/// A job queue that is measured.
struct QueueContestant: Sendable {
  /// The program that implements the benchmark's protocol.
  enum Program: Sendable {
    /// This program.
    case bench
    /// A Python script, by its name.
    case script(String)
  }

  /// The name in figures.
  let name: String
  /// The name in tables.
  let title: String
  let program: Program
  /// The jobs that are enqueued at once and drained; chosen so that a drain takes seconds.
  let jobs: Int
  /// The jobs that are enqueued one by one.
  let singles: Int
  /// The program's options for a drain: the best that sweeps found.
  let drain: [String]
  /// The program's options for an idle worker.
  let worker: [String]
  /// The query for the number of completed jobs in the history.
  let completed: String

  static let take5 = QueueContestant(
    name: "take5", title: "take5", program: .bench, jobs: 20_000, singles: 1000, drain: ["--slots", "16"],
    worker: ["--slots", "2"],
    completed: "SELECT count(*) FROM job_done WHERE outcome = 'a'")

  static let pgqueuer = QueueContestant(
    name: "pgqueuer", title: "pgqueuer", program: .script("peer_pgqueuer"), jobs: 100_000, singles: 1000,
    drain: ["--processes", "2", "--batch", "1000"], worker: ["--batch", "10"],
    completed: "SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'")

  static let procrastinate = QueueContestant(
    name: "procrastinate", title: "procrastinate", program: .script("peer_procrastinate"), jobs: 2000, singles: 1000,
    drain: ["--processes", "2", "--concurrency", "30", "--connections", "4"],
    worker: ["--concurrency", "10", "--connections", "4"],
    completed: "SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'")

  /// awa packs completions into arrays and stores the number of those that it has removed.
  static let awa = QueueContestant(
    name: "awa", title: "awa", program: .script("peer_awa"), jobs: 40_000, singles: 1000,
    drain: ["--concurrency", "500"], worker: ["--concurrency", "500"],
    completed: """
      SELECT (SELECT coalesce(sum(completed_count), 0) FROM awa.receipt_completion_batches)::bigint
           + (SELECT count(*) FROM awa.done_entries WHERE state = 'completed')
           + (SELECT coalesce(sum(pruned_completed_count), 0) FROM awa.queue_terminal_rollups)::bigint
      """)

  static let peers = [pgqueuer, procrastinate, awa]
  static let all = [take5] + peers
}

/// The command of a contestant's program, its first argument; the second one is a number of jobs.
enum QueueMeasure: String, Sendable, CaseIterable {
  /// Creates the schema in an empty database.
  case install
  /// Enqueues the jobs one after the other, each in a transaction.
  case single
  /// Enqueues the jobs in any number of steps.
  case bulk
  /// Performs all waiting jobs, until every completion is committed.
  case drain
  /// Performs jobs, prints `ready` when the job with index -1 starts, and prints the latencies after `count` others.
  case worker
  /// Enqueues a job every 20 ms, with its index and the time; with a count of 0, one job with index -1.
  case producer
  /// Claims a hundred jobs `count` times, enqueues as many after each claim, and prints the time of each claim.
  case claims
}
