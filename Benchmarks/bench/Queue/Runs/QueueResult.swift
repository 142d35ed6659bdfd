/// What one contestant did in one run.
struct QueueResult: Sendable {
  /// Jobs a second, one after the other.
  var single = 0.0
  /// Jobs a second, many at once.
  var bulk = 0.0
  /// Jobs a second, of those that were enqueued many at once.
  var drain = 0.0
  /// The same while somebody else holds a snapshot.
  var pinnedDrain = 0.0
  /// From the call that enqueues to the first line of the handler, in milliseconds.
  var latency = Statistics([0])
  /// Of a job of the drain.
  var cost = QueueCost(walBytes: 0, commits: 0, deadTuples: 0)
}
