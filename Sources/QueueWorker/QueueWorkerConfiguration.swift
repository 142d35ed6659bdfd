package import Queue

/// How long things may take in a worker.
package struct QueueWorkerConfiguration: Sendable {
  /// Without a sign of life for this long a worker is taken for dead, and its jobs are given to others.
  package var lease: Duration
  /// How often dead workers and passed deadlines are looked for.
  package var reapInterval: Duration
  /// How long a job may lie unseen if every notification is lost.
  package var pollInterval: Duration
  /// How long running jobs may go on once the worker is asked to end.
  package var drain: Duration
  /// How many days what is over stays readable.
  package var historyDays: Int
  /// How long what is not a job's fault is borne with.
  package var faults = FaultPolicy()
  /// From when on it warns of what keeps dead rows.
  package var vacuum = VacuumLimits()

  package init(
    lease: Duration = .seconds(30), reapInterval: Duration = .seconds(5), pollInterval: Duration = .seconds(1),
    drain: Duration = .seconds(25), historyDays: Int = 90
  ) {
    self.lease = lease
    self.reapInterval = reapInterval
    self.pollInterval = pollInterval
    self.drain = drain
    self.historyDays = historyDays
  }

  /// Between two signs of life: three may be missed.
  var beatInterval: Duration { lease / 3 }

  /// Without a successful sign of life for this long the worker stops its own jobs, before others may take them.
  var selfFence: Duration { lease * 3 / 5 }
}
