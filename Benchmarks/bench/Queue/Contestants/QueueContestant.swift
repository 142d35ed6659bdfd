/// A job queue that is measured.
struct QueueContestant: Sendable {
  /// Who speaks the programs' protocol for it.
  enum Program: Sendable {
    /// This program itself.
    case bench
    /// One of the scripts, by its name.
    case script(String)
  }

  /// In the names of figures.
  let name: String
  /// For people.
  let title: String
  let program: Program
  /// How many jobs are enqueued at once, and drained: what takes seconds.
  let jobs: Int
  /// How many are enqueued one by one.
  let singles: Int
  /// What its program is told for the drain, the best that sweeps have found.
  let drain: [String]
  /// What it is told for a worker that waits.
  let worker: [String]
  /// Asks the database how many jobs its history holds that ended well.
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

  /// It packs completions into arrays, and keeps a sum of those that it has thrown away since.
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
