package import Crypto
package import Model
package import Postgres
import Queue

/// The ends of items of runs. Each function runs in the transaction that ends the job.
extension Reprocessing {
  /// An end of an item without new outputs.
  package enum ItemEnding: Sendable, Hashable {
    /// The item already has the outputs of the definition.
    case skipped
    /// The old outputs stay, for the given reason.
    case failed(String)
    /// The item waits again.
    case requeued
    case cancelled
  }

  /// Replaces the outputs that the subject had when the work was read, and completes the item.
  ///
  /// The caller's transaction replaces the set atomically.
  ///
  /// - Parameters:
  ///   - job: the job of the item.
  ///   - seconds: the duration of the attempt.
  /// - Throws: `StoreError.itemEnded` if the item has an outcome already, and `StoreError.outputsChanged` if the
  ///   subject has another set by now. The caller must roll back.
  package static func replace(
    _ outputs: [NewAsset], of work: Work, recipe: SHA256Digest, job: PublicID, verdict: Verdict, seconds: Double,
    _ store: Store, _ session: Session
  ) throws {
    guard let reprocessing = work.reprocessing, try end(itemOf: job, "done", error: nil, seconds: seconds, session)
    else { throw StoreError.itemEnded(work.subject) }
    let insert = { () throws -> Int64 in
      try store.insertSet(outputs, definition: work.definitionHash, recipe: recipe, job: job, session)
    }
    try store.setOffset(of: work, verdict, session)
    if let current = reprocessing.currentSet {
      let set = try insert()
      let row = try swap(current, for: set, of: work.subject, session)
      try session.execute(
        Self.statements["retire_set"], .integer(current), .integer(set), .bool(reprocessing.keepsOld))
      try store.releaseInputs(of: work, session)
      try remakeIfOutdated(work, row, session)
    } else {
      try reopen(work.subject, session)
      try session.execute(Store.statements["keep_accepted"], .text(work.subject.id.description))
      try store.publishFirst(work, insert, session)
    }
  }

  /// Fails an item whose media are rejected: the old outputs stay. A subject without any that was rejected before has the reasons of
  /// this verdict, unless its media were not judged, because they are quarantined.
  package static func reject(_ work: Work, itemOf job: PublicID, verdict: Verdict, _ session: Session) throws {
    guard try end(itemOf: job, .failed(verdict.reasonText), session), work.refusals.isEmpty else { return }
    let statement =
      switch work.subject {
      case .post: Store.statements["reject_again"]
      case .image: Store.statements["reject_image_again"]
      }
    try session.execute(statement, .text(work.subject.id.description), .text(try JSON.text(verdict.reasons)))
  }

  /// Ends an item without new outputs; false if it has an outcome already.
  @discardableResult
  package static func end(
    itemOf job: PublicID, _ ending: ItemEnding, seconds: Double? = nil, _ session: Session
  ) throws(PostgresError) -> Bool {
    switch ending {
    case .skipped: try end(itemOf: job, "skipped", error: nil, seconds: seconds, session)
    case .failed(let error): try end(itemOf: job, "failed", error: error, seconds: seconds, session)
    case .cancelled: try end(itemOf: job, "cancelled", error: nil, seconds: seconds, session)
    case .requeued: try !session.execute(Self.statements["requeue_item"], .text(job.description)).isEmpty
    }
  }

  private static func end(
    itemOf job: PublicID, _ outcome: String, error: String?, seconds: Double?, _ session: Session
  ) throws(PostgresError) -> Bool {
    try !session.execute(
      Self.statements["end_item"], .text(job.description), .text(outcome), .text(error), .double(seconds)
    ).isEmpty
  }

  private static func swap(_ current: Int64, for set: Int64, of subject: Subject, _ session: Session) throws -> Row {
    let statement =
      switch subject {
      case .post: Self.statements["swap_post"]
      case .image: Self.statements["swap_image"]
      }
    let swapped = try session.execute(
      statement, .text(subject.id.description), .integer(current), .integer(set))
    guard let row = swapped.first else { throw StoreError.outputsChanged(subject) }
    return row
  }

  private static func reopen(_ subject: Subject, _ session: Session) throws {
    let statement =
      switch subject {
      case .post: Self.statements["reopen_post"]
      case .image: Self.statements["reopen_image"]
      }
    guard try !session.execute(statement, .text(subject.id.description)).isEmpty else {
      throw StoreError.outputsChanged(subject)
    }
  }

  /// Starts a run that makes the outputs of a moment again, after they were published, if they were made for another foreground than the
  /// post has by now.
  ///
  /// - Parameter row: of the statement that published them, which has locked the post.
  static func remakeIfOutdated(_ work: Work, _ row: Row, _ session: Session) throws {
    guard case .moment(let moment) = work.content, case .post(let id) = work.subject else { return }
    if try row.enumValue("foreground") != moment.foreground { try remake(id, session) }
  }
}
