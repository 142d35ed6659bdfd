/// What a database has written and left behind since it was made, or for each job.
struct QueueCost: Sendable, Hashable {
  var walBytes: Double
  var commits: Double
  var deadTuples: Double

  /// What came since an earlier reading, for each of so many jobs; dead tuples that were cleared away count as none.
  func since(_ earlier: QueueCost, jobs: Int) -> QueueCost {
    QueueCost(
      walBytes: (walBytes - earlier.walBytes) / Double(jobs), commits: (commits - earlier.commits) / Double(jobs),
      deadTuples: max(0, deadTuples - earlier.deadTuples) / Double(jobs))
  }
}
