import Crypto
package import Model
import Postgres
package import Queue

extension Store {
  /// What a claimed job is about; throws a `PostgresError` of kind `decoding` if its post or definition is gone.
  package func work(for job: ClaimedJob) async throws -> PostWork {
    let post = try JSON.decode(JobArguments.self, from: job.arguments).post
    return try await pool.run { session in
      let row = try session.execute(StatementFiles.post["find"], .text(post.description)).single()
      let body = try session.execute(StatementFiles.post["definition"], .bytes(job.definition)).single()
      let definition = try JSON.decode(Definition.self, from: Array(try body.get("body", as: String.self).utf8))
      var sources: [Role: PostWork.Source] = [:]
      if let set = try row.get("source_set_id", as: Int64?.self) {
        for row in try session.execute(StatementFiles.asset["of_set"], .integer(set)) {
          sources[try row.value("role")] = PostWork.Source(hash: try row.digest("blob"), bytes: try row.get("bytes"))
        }
      }
      return PostWork(
        post: post, draft: try PostDraft(row), definition: try HashedDefinition(definition), sources: sources)
    }
  }

  /// Notes that the media process died over these inputs in this attempt; how often it has, over all attempts.
  package func recordCrash(of work: PostWork, job: ClaimedJob) async throws -> Int {
    try await transaction { session in
      let inputs = Parameter.bytes(work.inputs.bytes)
      try session.execute(StatementFiles.post["record_crash"], inputs, .integer(job.token))
      return try session.execute(StatementFiles.post["count_crashes"], inputs).single().get("crashes")
    }
  }

  /// Takes jobs from dead workers and over-long attempts; posts whose job ended so are failed in the same transaction.
  @discardableResult
  package func reap(leaseSeconds: Double) async throws -> [Reaped] {
    try await transaction { session in
      let reaped = try JobQueue.reap(leaseSeconds: leaseSeconds, session)
      try failPosts(of: reaped.filter { $0.state.isFinal }.map(\.publicID), session)
      return reaped
    }
  }

  /// Cancels a job; the post of one that was waiting is failed with it, of one that runs when its worker stops.
  package func cancelJob(_ id: PublicID) async throws -> Cancelling {
    try await transaction { session in
      let cancelling = try JobQueue.cancel(id, session)
      if cancelling == .cancelled { try failPosts(of: [id], session) }
      return cancelling
    }
  }

  /// Lets a dead or waiting job be tried at once, its post processing again; false if it is neither.
  package func retryJob(_ id: PublicID) async throws -> Bool {
    let queue: String? = try await transaction { session in
      guard try JobQueue.retryNow(id, session) else { return nil }
      try session.execute(StatementFiles.post["try_again_by_job"], .text(id.description))
      return try JobQueue.find(id, session)?.queue
    }
    if let queue { await announcer.announce(queue) }
    return queue != nil
  }
}
