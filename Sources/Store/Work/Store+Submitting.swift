package import Crypto
import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Submissions. Each function runs in a transaction of the caller's.
///
/// The caller notifies the workers (`JobQueue.notify`).
extension Store {
  /// Inserts a moment, or a post of one clip, and enqueues its job.
  ///
  /// - Parameters:
  ///   - sources: the submitted clips, with the roles `source.front` and `source.back`, or `source.clip`.
  ///   - request: the id of the request, for the log of the worker.
  package func submit(
    _ draft: PostDraft, sources: [NewAsset], definition: Definition, request: String?, _ session: Session
  ) throws -> PublicID {
    let post = PublicID.now()
    try submit(post, draft, sources, try StoredDefinition(definition), request: request, session)
    return post
  }

  /// Inserts a post of photos and enqueues its job. A post without photos is ready at once and has no job.
  ///
  /// - Parameter sources: the submitted photos, with the role `source.photo` and their indexes.
  package func submit(
    _ draft: PostDraft, photos sources: [NewAsset], definition: PhotoDefinition, request: String?, _ session: Session
  ) throws -> PublicID {
    let post = PublicID.now()
    if sources.isEmpty {
      try insert(post, draft, status: .ready, job: nil, set: nil, session)
      return post
    }
    try submit(post, draft, sources, try StoredDefinition(definition), request: request, session)
    return post
  }

  /// Inserts an image and enqueues its job; nil if it is a reaction to a post that does not exist.
  ///
  /// - Parameter source: the submitted photo, with the role `source.photo`.
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
    try insert(definition, session)
    try session.execute(
      Self.statements["insert_image"], .text(image.description), .text(draft.kind.rawValue), .text(draft.owner),
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
    // After the files are written, because other submissions that insert this definition wait for the commit.
    try insert(definition, session)
    try insert(post, draft, status: .processing, job: job, set: set, session)
    try enqueue(
      job, PostJob.kind, by: draft.author, definition, request: request,
      arguments: try JSON.encode(PostJob(post: post)), session)
  }

  /// Enqueues a job in the fair share of its author.
  ///
  /// It is the last statement of the transaction: the row of the fair share stays locked until the commit, and other
  /// submissions of the same author wait for it.
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

  func insert(_ definition: StoredDefinition, _ session: Session) throws(PostgresError) {
    try session.execute(
      Self.statements["insert_definition"], .bytes(definition.hash.bytes), .text(definition.name),
      .integer(definition.version), .text(String(decoding: definition.body, as: UTF8.self)))
  }

  private func insert(
    _ post: PublicID, _ draft: PostDraft, status: PostStatus, job: PublicID?, set: Int64?, _ session: Session
  ) throws {
    try session.execute(
      Self.statements["insert_post"], .text(post.description), .text(draft.kind.rawValue), .text(draft.author),
      .text(draft.title), .text(draft.caption), .text(draft.visibility.rawValue), .text(draft.place?.id),
      .text(draft.place?.name), .double(draft.place?.coordinate?.latitude),
      .double(draft.place?.coordinate?.longitude), .double(draft.location?.latitude),
      .double(draft.location?.longitude), .text(draft.foreground.rawValue),
      .timestamp(microseconds: draft.capturedAt.map { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }),
      .text(job?.description), .integer(set), .text(status.rawValue))
  }
}

/// A definition as it is stored in the database, identified by the hash of its JSON.
package struct StoredDefinition: Sendable, Hashable {
  package let name: String
  package let version: Int
  package let attempts: Int
  package let deadlineSeconds: Int
  let body: [UInt8]
  package let hash: SHA256Digest

  package init(_ definition: Definition) throws {
    self.init(
      definition.name, definition.version, definition.attempts, definition.deadlineSeconds,
      try JSON.encode(definition))
  }

  package init(_ definition: PhotoDefinition) throws {
    self.init(
      definition.name, definition.version, definition.attempts, definition.deadlineSeconds,
      try JSON.encode(definition))
  }

  package init(_ definition: MediaDefinition) throws {
    switch definition {
    case .clips(let definition): try self.init(definition)
    case .photos(let definition): try self.init(definition)
    }
  }

  private init(_ name: String, _ version: Int, _ attempts: Int, _ deadlineSeconds: Int, _ body: [UInt8]) {
    self.name = name
    self.version = version
    self.attempts = attempts
    self.deadlineSeconds = deadlineSeconds
    self.body = body
    hash = SHA256.digest(of: body)
  }
}

/// The arguments of a job for a post.
package struct PostJob: Codable, Sendable, Hashable {
  /// The kind of these jobs.
  package static let kind = "post"
  /// The queue of the jobs for posts and images.
  package static let queue = "media"

  package let post: PublicID

  package init(post: PublicID) { self.post = post }
}

/// The arguments of a job for an image.
package struct ImageJob: Codable, Sendable, Hashable {
  /// The kind of these jobs.
  package static let kind = "image"

  package let image: PublicID

  package init(image: PublicID) { self.image = image }
}
