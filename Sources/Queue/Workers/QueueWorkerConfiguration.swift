/// The timeouts and intervals of a worker.
package struct QueueWorkerConfiguration: Sendable {
  /// Other workers take the jobs of a worker whose last heartbeat is older than this.
  package var lease: Duration
  /// The heartbeats within a lease.
  package var heartbeats = 3
  /// The interval between two searches for lost workers and passed deadlines.
  package var reapInterval: Duration
  /// The interval between two looks at the queue while no notifications can be received.
  package var pollInterval: Duration
  /// The time that running jobs have left once the worker is asked to end.
  package var drain: Duration
  /// The days for which history stays readable.
  package var historyDays: Int
  /// When a lost worker counts against a job, and when a job that died comes back.
  package var faults = FaultPolicy()
  /// The thresholds of the warnings about dead rows.
  package var vacuum = VacuumLimits()
  /// The clock of the leases, the pauses, the maintenance and the drain.
  package var clock: any WorkerClock = ContinuousClock()

  package init(
    lease: Duration = .seconds(30), reapInterval: Duration = .seconds(10), pollInterval: Duration = .seconds(1),
    drain: Duration = .seconds(25), historyDays: Int = 90
  ) {
    self.lease = lease
    self.reapInterval = reapInterval
    self.pollInterval = pollInterval
    self.drain = drain
    self.historyDays = historyDays
  }

  var heartbeatInterval: Duration { lease / heartbeats }

  /// The age of the last heartbeat at which a worker stops its own jobs, before other workers may take them.
  var selfFence: Duration { lease * 3 / 5 }
}
