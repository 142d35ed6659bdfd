package import Postgres
package import Store

/// A room that has events delivered.
package protocol EventConsumer: Room {
  /// Stores what is to be delivered of the events with these positions, in the transaction that gives them their positions. A repetition
  /// of the statement finds none of them.
  static func receive(from first: Int64, through last: Int64, _ session: Session) throws

  /// Enqueues a job, by `JobQueue.ensure`, for each receiver for whom something is due.
  ///
  /// - Returns: the seconds until something else is due; nil: nothing is known to become due.
  static func enqueueDue(_ session: Session) throws -> Double?
}
