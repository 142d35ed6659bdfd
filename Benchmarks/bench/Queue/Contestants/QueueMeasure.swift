/// What the program of a contestant is asked to do: its first word; the second is a number of jobs.
enum QueueMeasure: String, Sendable, CaseIterable {
  /// Makes the schema in an empty database.
  case install
  /// Enqueues the jobs one after the other, each committed before the next.
  case single
  /// Enqueues the jobs in as few steps as it likes.
  case bulk
  /// Carries out what waits, which is so many jobs, until all of it is committed.
  case drain
  /// Waits for jobs, tells `ready` when one of index -1 begins, and when as many others began how long each had waited.
  case worker
  /// Enqueues a job every 20 ms, with its index and the time; none of them: one of index -1.
  case producer
  /// Claims a hundred jobs so many times, enqueues as many again after each, and tells how long each claim took.
  case claims
}
