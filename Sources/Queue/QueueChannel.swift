/// The names under which the queue's notifications are sent.
package enum QueueChannel {
  /// A job may be waiting; the payload is the queue's name.
  package static let jobs = "take5_jobs"
  /// A job has come further or is over; the payload is its public id.
  package static let changes = "take5_changes"
}
