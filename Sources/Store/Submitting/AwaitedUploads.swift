import CStoreSQL
package import Model
package import Postgres
package import Queue

/// An upload that a post awaits, as a part of its submission.
package struct AwaitedUpload: Sendable, Hashable {
  package let upload: PublicID
  /// The name of the part, such as `front`.
  package let part: String

  package init(upload: PublicID, part: String) {
    self.upload = upload
    self.part = part
  }
}

/// A post cannot await an upload that another post awaits.
package struct AwaitedByOther: Error, Sendable, Hashable {}

/// Posts whose media are still being uploaded: they are `processing`, and have neither sources nor a job. Each function runs
/// in a transaction of the caller's.
package enum AwaitedUploads {
  package static let statements = Statements(topic: "uploads", StoreSQL.Uploads)

  /// Inserts a post that awaits uploads. Nothing is enqueued.
  ///
  /// - Parameters:
  ///   - uploads: in the order of the photos.
  ///   - punctuality: how a moment keeps the daily window; nil: it is none, or no window has opened yet.
  ///   - isHeld: whether only the author sees the post until a moderator decides.
  ///   - request: the request, for the log and the traces of the worker.
  /// - Throws: `AwaitedByOther`, `ForgottenRefusal`, `SuspendedRefusal`.
  package static func submit(
    _ draft: PostDraft, awaiting uploads: [AwaitedUpload], punctuality: Punctuality? = nil, isHeld: Bool = false,
    request: JobRequest?, _ session: Session
  ) throws -> PublicID {
    try Store.requireUsers(draft.author, in: session)
    let post = PublicID.now()
    try Store.insert(post, draft, status: .processing, job: nil, set: nil, punctuality, isHeld: isHeld, session)
    let inserted = try session.execute(
      Self.statements["insert_awaited_uploads"], .text(post.description),
      .texts(uploads.map(\.upload.description)),
      .texts(uploads.map(\.part)), .integers(uploads.indices.map(Int64.init)), .text(request?.id),
      .text(request?.trace))
    guard inserted.affected == uploads.count else { throw AwaitedByOther() }
    return post
  }

  /// Returns the uploads that a post awaits, in the order of the photos; empty if it awaits none.
  package static func list(of post: PublicID, _ session: Session) throws -> [AwaitedUpload] {
    try session.execute(Self.statements["awaited_uploads"], .text(post.description)).map { row in
      AwaitedUpload(upload: try row.publicID("upload"), part: try row.get("part"))
    }
  }

  /// Returns up to 1000 posts that await uploads, in the order of their numbers.
  ///
  /// - Parameter last: the number of the post after which the list starts; 0: at the beginning.
  package static func posts(
    after last: Int64, _ session: Session
  ) throws -> [(number: Int64, post: PublicID)] {
    // Most of the time no post awaits any: then the table of posts, which others may have locked, is not touched.
    guard try !session.execute(Self.statements["awaits_any"]).isEmpty else { return [] }
    return try session.execute(Self.statements["awaiting_posts"], .integer(last)).map { row in
      (try row.get("id"), try row.publicID("public_id"))
    }
  }

  /// Gives a post the media that it has awaited, and enqueues its job; false if it awaits none any more.
  ///
  /// - Throws: `QuarantineRefusal`.
  package static func process(
    _ post: PublicID, sources: [NewAsset], definition: MediaDefinition, _ store: Store, _ session: Session
  ) throws -> Bool {
    guard let row = try session.execute(Self.statements["end_awaiting"], .text(post.description)).first else {
      return false
    }
    try Quarantine.refuse(sources, session)
    let (job, definition) = (PublicID.now(), try StoredDefinition(definition))
    let set = try store.insertSet(sources, definition: nil, recipe: nil, job: nil, session)
    try Store.insert(definition, session)
    let started = try session.execute(
      Self.statements["start_processing"], .text(post.description), .text(job.description), .integer(set))
    guard let author = try started.first?.get("author", as: String.self) else {
      throw StoreError.noSubject(.post(post))
    }
    let (request, trace): (String?, String?) = (try row.get("request"), try row.get("trace"))
    try store.enqueue(
      post: post, as: job, by: author, definition, request: request.map { JobRequest(id: $0, trace: trace) },
      session)
    return true
  }

  /// Rejects a post whose uploads cannot be used; false if it awaits none any more.
  package static func reject(_ post: PublicID, _ reasons: [Reason], _ session: Session) throws -> Bool {
    guard try !session.execute(Self.statements["end_awaiting"], .text(post.description)).isEmpty else {
      return false
    }
    let rejected = try session.execute(
      Store.statements["reject"], .text(post.description), .text(try JSON.text(reasons)))
    if let row = rejected.first { try Store.notify(row.get("author"), of: .postRejected, by: nil, post: post, session) }
    return true
  }
}
