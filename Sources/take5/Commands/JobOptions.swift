import Model
import Queue

/// Options that select jobs.
extension Option {
  /// The options that `JobFilter.init(_:limit:)` reads.
  static func jobFilter(limit: Option) -> [Option] {
    [
      Option(
        "--state", "STATES", .list(of: JobState.self),
        help: "comma-separated list of scheduled, available, executing, completed, cancelled, dead"),
      Option("--queue", "NAME", help: "jobs of this queue"),
      Option("--kind", "KIND", help: "jobs of this kind, such as post or image"),
      Option("--author", "NAME", help: "jobs of this author"),
      Option("--error", "TEXT", help: "jobs whose last error contains this text, ignoring case"),
      Option(
        "--created-after", "TIME",
        help: "jobs created after this time: 2026-11-20T18:30:00Z, 2026-11-20, or 45s, 30m, 2h, 7d before now"),
      Option("--created-before", "TIME", help: "jobs created before this time"),
      Option("--finished-after", "TIME", help: "jobs finished after this time"),
      Option("--finished-before", "TIME", help: "jobs finished before this time"),
      Option("--before", "JOB", help: "jobs older than this job, the last one of the previous list"), limit,
    ]
  }

  static let jobListLimit = Option("--limit", "N", .integer(1...1000), default: "20", help: "maximum number of jobs")

  /// The options of a command that changes many jobs.
  static let jobChanges: [Option] =
    jobFilter(
      limit: Option("--limit", "N", .anyPositive, help: "change at most this many of the selected jobs, newest first"))
    + [
      Option("--all", help: "change all selected jobs"),
      Option("--dry-run", help: "print the number of selected jobs and change nothing"),
    ] + storeAccess
}
