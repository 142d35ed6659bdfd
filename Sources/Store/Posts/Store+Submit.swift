import Blobs
import Crypto
package import Model
import Postgres
import Queue

extension Store {
  /// Stores a submission and queues its job in one transaction; the job's public id, nil if it needs none.
  ///
  /// Submitting a post whose id is there already changes nothing. Throws `BlobError` or `PostgresError`.
  package func submit(_ post: NewPost) async throws -> PublicID? {
    try synchronize(post.sources)
    let job = post.definition == nil ? nil : PublicID.now()
    let queued = try await transaction { session in
      if try session.execute(StatementFiles.post["exists"], .text(post.id.description)).single().get("is_there") {
        let row = try session.execute(StatementFiles.post["find"], .text(post.id.description)).single()
        return try row.get("job", as: String?.self).flatMap { PublicID($0) }
      }
      var set: Int64?
      if !post.sources.isEmpty {
        set = try insertSet(post.sources, definition: nil, recipe: nil, job: nil, session)
      }
      try session.execute(
        StatementFiles.post["insert"], post.draft.parameters(id: post.id, sourceSet: set, job: job))
      if let definition = post.definition, let job { try enqueue(post, definition, job, session) }
      return job
    }
    if queued != nil { await announcer.announce(post.queue) }
    return queued
  }

  private func enqueue(
    _ post: NewPost, _ definition: HashedDefinition, _ job: PublicID, _ session: Session
  ) throws {
    try session.execute(
      StatementFiles.post["keep_definition"], .bytes(definition.hash.bytes), .text(definition.definition.name),
      .integer(definition.definition.version), .text(String(decoding: definition.body, as: UTF8.self)))
    try JobQueue.enqueue(
      NewJob(
        publicID: job, queue: post.queue, kind: definition.definition.name,
        maxAttempts: definition.definition.attempts, deadlineSeconds: definition.definition.deadlineSeconds,
        author: post.draft.author, definition: definition.hash.bytes, request: post.request,
        arguments: try JSON.encode(JobArguments(post: post.id))), session)
  }
}
