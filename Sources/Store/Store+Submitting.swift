import Crypto
import FoundationEssentials
package import Model
package import Postgres
import Queue

/// What clients submit; each call is to be one transaction of the caller's: everything or nothing.
///
/// Announce the job after the commit (`JobQueue.announce`).
extension Store {
  /// Stores a moment, or a post of one clip, and queues its job.
  ///
  /// - Parameters:
  ///   - sources: the clips as they came, `source.front` and `source.back`, or `source.clip`.
  ///   - request: the id of the request, for the log of the worker.
  package func submit(
    _ draft: PostDraft, sources: [NewAsset], definition: Definition, request: String?, _ session: Session
  ) throws -> PublicID {
    let post = PublicID.now()
    try submit(post, draft, sources, try StoredDefinition(definition), request: request, session)
    return post
  }

  /// Stores a post of photos and queues its job; without any the post is ready at once, and there is no job.
  ///
  /// - Parameter sources: the photos as they came, `source.photo`, told apart by their places.
  package func submit(
    _ draft: PostDraft, photos sources: [NewAsset], definition: PhotoDefinition, request: String?, _ session: Session
  ) throws -> PublicID {
    let post = PublicID.now()
    if sources.isEmpty {
      try keep(post, draft, status: .ready, job: nil, set: nil, session)
      return post
    }
    try submit(post, draft, sources, try StoredDefinition(definition), request: request, session)
    return post
  }

  /// Stores an image by itself and queues its job; nil if it is a reaction to a post that there is not.
  ///
  /// - Parameter source: the photo as it came, `source.photo`.
  package func submit(
    _ draft: ImageDraft, source: NewAsset, definition: PhotoDefinition, request: String?, _ session: Session
  ) throws -> PublicID? {
    if draft.kind == .reaction {
      guard PublicID(draft.owner) != nil,
        try !session.execute(Self.statements["has_post"], .text(draft.owner)).isEmpty
      else { return nil }
    }
    let (image, job) = (PublicID.now(), PublicID.now())
    let definition = try StoredDefinition(definition)
    let set = try insertSet([source], definition: nil, recipe: nil, job: nil, session)
    try keep(definition, session)
    try session.execute(
      Self.statements["keep_image"], .text(image.description), .text(draft.kind.rawValue), .text(draft.owner),
      .text(draft.author), .text(job.description), .integer(set),
      .text(draft.kind == .reaction ? draft.owner : nil))
    try enqueue(
      job, ImageJob.kind, by: draft.author ?? draft.owner, definition, request: request,
      arguments: try JSON.encode(ImageJob(image: image)), session)
    return image
  }

  private func submit(
    _ post: PublicID, _ draft: PostDraft, _ sources: [NewAsset], _ definition: StoredDefinition, request: String?,
    _ session: Session
  ) throws {
    let job = PublicID.now()
    let set = try insertSet(sources, definition: nil, recipe: nil, job: nil, session)
    // After the files: others who are the first with this definition wait for the commit.
    try keep(definition, session)
    try keep(post, draft, status: .processing, job: job, set: set, session)
    try enqueue(
      job, PostJob.kind, by: draft.author, definition, request: request,
      arguments: try JSON.encode(PostJob(post: post)), session)
  }

  /// Queues a job in its author's turn.
  ///
  /// It comes last: the row of the author's turn stays locked until the commit, and another submission of the same author,
  /// though of nobody else, waits for it.
  private func enqueue(
    _ job: PublicID, _ kind: String, by author: String, _ definition: StoredDefinition, request: String?,
    arguments: [UInt8], _ session: Session
  ) throws {
    let name = "author:" + author
    try JobQueue.enqueue(
      NewJob(
        publicID: job, queue: PostJob.queue, kind: kind, maxAttempts: definition.attempts,
        deadlineSeconds: definition.deadlineSeconds, author: author, definition: definition.hash.bytes,
        request: request, share: JobShare(name: name),
        limit: authorConcurrency.map { JobLimit(name: name, max: $0) }, arguments: arguments), session)
  }

  func keep(_ definition: StoredDefinition, _ session: Session) throws(PostgresError) {
    try session.execute(
      Self.statements["keep_definition"], .bytes(definition.hash.bytes), .text(definition.name),
      .integer(definition.version), .text(String(decoding: definition.body, as: UTF8.self)))
  }

  private func keep(
    _ post: PublicID, _ draft: PostDraft, status: PostStatus, job: PublicID?, set: Int64?, _ session: Session
  ) throws {
    try session.execute(
      Self.statements["keep_post"], .text(post.description), .text(draft.kind.rawValue), .text(draft.author),
      .text(draft.title), .text(draft.caption), .text(draft.visibility.rawValue), .text(draft.place?.id),
      .text(draft.place?.name), .double(draft.place?.coordinate?.latitude),
      .double(draft.place?.coordinate?.longitude), .double(draft.location?.latitude),
      .double(draft.location?.longitude), .text(draft.foreground.rawValue),
      .timestamp(microseconds: draft.capturedAt.map { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }),
      .text(job?.description), .integer(set), .text(status.rawValue))
  }
}
