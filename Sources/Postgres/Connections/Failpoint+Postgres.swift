package import Platform

extension Failpoint {
  static let connect = Failpoint("connection.open")
  static let begin = Failpoint("transaction.begin", isOnConnection: true)
  static let commit = Failpoint("transaction.commit", isOnConnection: true)
  static let rollback = Failpoint("transaction.rollback", isOnConnection: true)
  static let savepoint = Failpoint("transaction.savepoint", isOnConnection: true)
  static let rollbackTo = Failpoint("transaction.rollback_to", isOnConnection: true)
  static let release = Failpoint("transaction.release", isOnConnection: true)
  static let listen = Failpoint("connection.listen", isOnConnection: true)

  /// What every connection does, whatever is asked of it.
  package static let connections = [
    connect, begin, commit, rollback, savepoint, rollbackTo, release, listen,
  ]
}
