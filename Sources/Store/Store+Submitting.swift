import Crypto
import FoundationEssentials
package import Model
package import Postgres
import Queue

extension Store {
  /// Stores a moment and queues its job, in the caller's transaction: everything or nothing.
  ///
  /// Announce the job after the commit (`JobQueue.announce`).
  ///
  /// - Parameters:
  ///   - sources: the clips as they came, `source.front` and `source.back`.
  ///   - request: the id of the request, for the log of the worker.
  package func submit(
    _ draft: PostDraft, sources: [NewAsset], definition: Definition, request: String?, _ session: Session
  ) throws -> PublicID {
    let post = PublicID.now()
    let job = PublicID.now()
    let body = try JSON.encode(definition)
    let hash = SHA256.digest(of: body)
    let set = try keepSet(sources, definition: nil, recipe: nil, job: nil, session)
    // After the files: others who are the first with this definition wait for the commit.
    try session.execute(
      Self.statements["keep_definition"], .bytes(hash.bytes), .text(definition.name), .integer(definition.version),
      .text(String(decoding: body, as: UTF8.self)))
    try session.execute(
      Self.statements["keep_post"], .text(post.description), .text(draft.kind.rawValue), .text(draft.author),
      .text(draft.title), .text(draft.caption), .text(draft.visibility.rawValue), .text(draft.place?.id),
      .text(draft.place?.name), .double(draft.place?.coordinate?.latitude),
      .double(draft.place?.coordinate?.longitude), .double(draft.location?.latitude),
      .double(draft.location?.longitude), .text(draft.foreground.rawValue),
      .timestamp(microseconds: draft.capturedAt.map { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }),
      .text(job.description), .integer(set))
    try JobQueue.enqueue(
      NewJob(
        publicID: job, queue: PostJob.queue, kind: PostJob.kind, maxAttempts: definition.attempts,
        deadlineSeconds: definition.deadlineSeconds, author: draft.author, definition: hash.bytes, request: request,
        arguments: try JSON.encode(PostJob(post: post))), session)
    return post
  }
}
