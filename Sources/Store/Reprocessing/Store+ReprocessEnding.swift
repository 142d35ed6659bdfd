package import Crypto
package import Model
package import Postgres
import Queue

/// How items of runs end; each is part of the transaction that ends the job, or fenced by the item alone in a local run.
extension Store {
  /// How the item of a job ends.
  package enum ItemEnding: Sendable, Hashable {
    /// The outputs are what the definition makes.
    case skipped
    /// The old outputs stay.
    case failed(String)
    /// Its run is paused: it waits again.
    case requeued
    case cancelled
  }

  /// What the item of a job says and what its subject has now, as of one moment; nil if it is over, or there is none.
  func reprocessing(job: PublicID, _ session: Session) throws -> Work.Reprocessing? {
    guard let row = try session.execute(Self.runStatements["item"], .text(job.description)).first else { return nil }
    let set: Int64? = try row.get("asset_set_id")
    let recipe = try row.get("recipe", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) }
    let blobs =
      try set.map { set in
        try session.execute(Self.runStatements["blobs_of_set"], .integer(set)).compactMap {
          SHA256Digest(bytes: try $0.get("hash"))
        }
      } ?? []
    return Work.Reprocessing(
      state: try PostDraft.word(row, "state"), keepsOld: try row.get("keeps_old"), isForced: try row.get("is_forced"),
      currentSet: set, recipe: recipe, blobs: blobs)
  }

  /// New outputs take the place of what the subject had when the work was read, and its item is done.
  ///
  /// Readers see the set that was, or this one. Throws, so that all of it rolls back, if the item is over or the subject has
  /// another set by now.
  ///
  /// - Parameters:
  ///   - job: of the item.
  ///   - seconds: that the media process worked on it.
  package func replace(
    _ outputs: [NewAsset], of work: Work, recipe: SHA256Digest, job: PublicID, seconds: Double, _ session: Session
  ) throws {
    guard let again = work.reprocessing, try end(itemOf: job, "done", error: nil, seconds: seconds, session) else {
      throw StoreError.itemIsOver(work.subject)
    }
    let keep = { () throws -> Int64 in
      try insertSet(outputs, definition: work.definitionHash, recipe: recipe, job: job, session)
    }
    if let current = again.currentSet {
      let set = try keep()
      try swap(current, for: set, of: work.subject, session)
      try session.execute(
        Self.runStatements["retire_set"], .integer(current), .integer(set), .bool(again.keepsOld))
      try settle(work, session)
    } else {
      try reopen(work.subject, session)
      try show(work, keep, session)
    }
  }

  /// Ends an item otherwise; false if it was over.
  @discardableResult
  package func end(
    itemOf job: PublicID, _ ending: ItemEnding, seconds: Double? = nil, _ session: Session
  ) throws(PostgresError) -> Bool {
    switch ending {
    case .skipped: try end(itemOf: job, "skipped", error: nil, seconds: seconds, session)
    case .failed(let error): try end(itemOf: job, "failed", error: error, seconds: seconds, session)
    case .cancelled: try end(itemOf: job, "cancelled", error: nil, seconds: seconds, session)
    case .requeued: try !session.execute(Self.runStatements["put_back_item"], .text(job.description)).isEmpty
    }
  }

  private func end(
    itemOf job: PublicID, _ outcome: String, error: String?, seconds: Double?, _ session: Session
  ) throws(PostgresError) -> Bool {
    try !session.execute(
      Self.runStatements["end_item"], .text(job.description), .text(outcome), .text(error), .double(seconds)
    ).isEmpty
  }

  private func swap(_ current: Int64, for set: Int64, of subject: Subject, _ session: Session) throws {
    let statement =
      switch subject {
      case .post: "swap_post"
      case .image: "swap_image"
      }
    let swapped = try session.execute(
      Self.runStatements[statement], .text(subject.id.description), .integer(current), .integer(set))
    guard !swapped.isEmpty else { throw StoreError.changedMeanwhile(subject) }
  }

  private func reopen(_ subject: Subject, _ session: Session) throws {
    let statement =
      switch subject {
      case .post: "reopen_post"
      case .image: "reopen_image"
      }
    guard try !session.execute(Self.runStatements[statement], .text(subject.id.description)).isEmpty else {
      throw StoreError.changedMeanwhile(subject)
    }
  }
}
