import Crypto
package import Postgres

extension Store {
  /// What stands against doing a request under its key.
  package enum IdempotencyFault: Error, Hashable {
    /// The same request is being done at this moment.
    case running
    /// Another request had this key.
    case otherPayload
  }

  /// Does something under a key once: in the caller's transaction, which keeps the answer together with what was done.
  ///
  /// A crash in between leaves neither. A repetition gets the kept answer, and nothing is done.
  ///
  /// - Throws: `IdempotencyFault`, or what `body` throws.
  package func once(
    _ key: IdempotencyKey, _ session: Session, _ body: () throws -> IdempotentAnswer
  ) throws -> (answer: IdempotentAnswer, isReplay: Bool) {
    let held = try session.execute(Self.statements["hold_answer"], .text(key.tenant), .text(key.key)).single()
    guard try held.get("held", as: Bool.self) else { throw IdempotencyFault.running }
    let kept = try session.execute(
      Self.statements["answer"], .text(key.tenant), .text(key.key), .double(IdempotencyKey.lifetime))
    if let row = kept.first {
      guard try row.get("fingerprint", as: [UInt8].self) == key.fingerprint.bytes else {
        throw IdempotencyFault.otherPayload
      }
      let answer = IdempotentAnswer(
        status: try row.get("status"), location: try row.get("location"), body: try row.get("body"))
      return (answer, true)
    }
    let answer = try body()
    try session.execute(
      Self.statements["keep_answer"], .text(key.tenant), .text(key.key), .bytes(key.fingerprint.bytes),
      .integer(answer.status), .text(answer.location), .bytes(answer.body))
    return (answer, false)
  }

  /// Forgets answers whose time is over; how many, a thousand at most.
  @discardableResult
  package func dropExpiredAnswers(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Self.statements["drop_answers"], .double(IdempotencyKey.lifetime)).affected
  }

  /// How many answers wait to be forgotten.
  package static func expiredAnswers(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(statements["expired_answers"], .double(IdempotencyKey.lifetime)).single().get("answers")
  }
}
