import Crypto
import FoundationEssentials
package import Model
package import Postgres
package import Queue

/// Submissions. Each function runs in a transaction of the caller's.
///
/// The caller notifies the workers (`JobQueue.notify(queues:)` of `JobKinds.submissionQueues`).
extension Store {
  /// Inserts a post and enqueues its job. A post without media is ready at once and has no job.
  ///
  /// - Parameters:
  ///   - sources: the submitted media, with the roles `source.front` and `source.back`, `source.clip`, or `source.photo`
  ///     and their indexes.
  ///   - punctuality: how a moment keeps the daily window; nil: it is none, or no window has opened yet.
  ///   - isHeld: whether only the author sees the post until a moderator decides.
  ///   - request: the request, for the log and the traces of the worker.
  /// - Throws: `QuarantineRefusal`, `ForgottenRefusal`, `SuspendedRefusal`.
  package func submitPost(
    _ draft: PostDraft, sources: [NewAsset], definition: MediaDefinition, punctuality: Punctuality? = nil,
    isHeld: Bool = false, request: JobRequest?, _ session: Session
  ) throws -> PublicID {
    try Self.requireUsers(draft.author, in: session)
    let post = PublicID.now()
    guard !sources.isEmpty else {
      try Self.insert(post, draft, status: .ready, job: nil, set: nil, punctuality, isHeld: isHeld, session)
      // Its author knows that a post without media is ready.
      if isHeld {
        try announce(.held, of: post, by: draft.author, session)
      } else {
        for room in rooms { try room.note(.ready, of: post, session) }
      }
      return post
    }
    try Quarantine.refuse(sources, session)
    let (job, stored) = (PublicID.now(), try StoredDefinition(definition))
    let set = try insertSet(sources, definition: nil, recipe: nil, job: nil, session)
    // After the files are written, because other submissions that insert this definition wait for the commit.
    try Self.insert(stored, session)
    try Self.insert(
      post, draft, status: .processing, job: job, set: set, punctuality, isHeld: isHeld, session)
    try enqueue(post: post, as: job, by: draft.author, stored, request: request, session)
    return post
  }

  /// Enqueues the job that makes the outputs of a post, and before it the one for the first look.
  func enqueue(
    post: PublicID, as job: PublicID, by author: String, _ definition: StoredDefinition, request: JobRequest?,
    _ session: Session
  ) throws {
    if definition.look != .notMade {
      try enqueue(LookJob(post: post), as: .now(), by: author, definition, request: request, session)
    }
    try enqueue(PostJob(post: post), as: job, by: author, definition, request: request, session)
  }

  /// Inserts an image and enqueues its job. The caller has checked that the owner may have it.
  ///
  /// - Parameter source: the submitted photo, with the role `source.photo`.
  /// - Throws: `QuarantineRefusal`.
  package func submitImage(
    _ draft: ImageDraft, source: NewAsset, definition: PhotoDefinition, request: JobRequest?, _ session: Session
  ) throws -> PublicID {
    try Quarantine.refuse([source], session)
    let (image, job) = (PublicID.now(), PublicID.now())
    let definition = try StoredDefinition(definition)
    let set = try insertSet([source], definition: nil, recipe: nil, job: nil, session)
    try Self.insert(definition, session)
    try session.execute(
      Self.statements["insert_image"], .text(image.description), .text(draft.kind.rawValue), .text(draft.owner),
      .text(draft.author), .text(job.description), .integer(set),
      .text(draft.kind == .reaction ? draft.owner : nil), .text(draft.alternativeText))
    try enqueue(
      ImageJob(image: image), as: job, by: draft.author ?? draft.owner, definition, request: request, session)
    return image
  }

  /// Enqueues a job in the fair share of its author.
  ///
  /// It is the last statement of the transaction: the row of the fair share stays locked until the commit, and other
  /// submissions of the same author wait for it.
  func enqueue<Job: MediaJob & Encodable>(
    _ arguments: Job, as job: PublicID, by author: String, _ definition: StoredDefinition, request: JobRequest?,
    _ session: Session
  ) throws {
    // First looks have shares of their own, and no limit: they are short.
    let isLook = Job.kind == LookJob.kind
    let name = (isLook ? "look:" : "author:") + author
    try JobQueue.enqueue(
      NewJob(
        publicID: job, queue: Job.queue, kind: Job.kind, maxAttempts: definition.attempts,
        deadlineSeconds: definition.deadlineSeconds, uniqueKey: arguments.uniqueKey, author: author,
        definition: definition.hash.bytes, request: request, share: JobShare(name: name, seconds: Job.turn),
        limit: isLook ? nil : authorConcurrency.map { JobLimit(name: name, max: $0) },
        arguments: try JSON.encode(arguments)), session)
  }

  static func insert(
    _ post: PublicID, _ draft: PostDraft, status: PostStatus, job: PublicID?, set: Int64?,
    _ punctuality: Punctuality?, isHeld: Bool, _ session: Session
  ) throws {
    let fixed: [Parameter] = [
      .text(post.description), .text(status.rawValue), .text(job?.description), .integer(set),
      .text(punctuality?.state.rawValue), .integer(punctuality?.lateSeconds.map(Int64.init)), .bool(isHeld),
    ]
    try session.execute(Self.statements["insert_post"], fixed + PostColumn.all.map { try $0.value(draft) })
  }
}
