extension Option {
  /// What every verb of jobs needs.
  static let jobAccess: [Option] = [.data, .database, .pooling, .json]

  /// Which jobs are meant; see `JobFilter.init(_:limit:)`.
  static func jobFilter(limit: Option) -> [Option] {
    [
      Option("--state", "STATES", help: "scheduled, available, executing, completed, cancelled, dead; with commas"),
      Option("--queue", "NAME", help: "of this queue"), Option("--kind", "KIND", help: "post, image..."),
      Option("--author", "NAME", help: "whose jobs"),
      Option("--error", "TEXT", help: "whose last error contains this, whatever the case of its letters"),
      Option("--created-after", "TIME", help: "queued since: 2026-11-20T18:30:00Z, or so long ago: 45s, 30m, 2h, 7d"),
      Option("--created-before", "TIME", help: "queued before"),
      Option("--finished-after", "TIME", help: "over since"), Option("--finished-before", "TIME", help: "over before"),
      Option("--before", "JOB", help: "only jobs older than this one, the last of the list before"), limit,
    ]
  }

  static let jobListLimit = Option("--limit", "N", default: "20", help: "how many at most")

  /// What a verb that changes many jobs needs beside a filter.
  static let jobSweep: [Option] =
    jobFilter(limit: Option("--limit", "N", help: "of a filter: so many at most, the newest")) + [
      Option("--all", help: "of a filter: all of them"),
      Option("--dry-run", help: "say how many it would be, and change nothing"),
    ] + jobAccess
}
