/// From when on a worker warns that the server cannot, or does not, remove dead rows of the queue's tables.
package struct VacuumLimits: Sendable, Hashable {
  /// How often it looks.
  package var interval = Duration.seconds(60)
  /// How long a transaction may be open.
  package var oldestTransaction = Duration.seconds(300)
  /// For how many transactions a slot or a standby may keep dead rows.
  package var mostTransactions = 1_000_000
  /// How many dead rows there may be for each live one...
  package var mostDeadPerLive = 10.0
  /// ... once there are so many.
  package var leastDead = 50_000
  /// It warns of one cause no more often than this.
  package var silence = Duration.seconds(300)

  package init() {}
}
