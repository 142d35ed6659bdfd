package import Crypto
package import Model
package import Postgres
package import Queue

/// What a worker reads and writes; each ending is one transaction of the caller's, fenced by the job's token.
extension Store {
  /// What the job is about.
  package func work(for job: ClaimedJob, _ session: Session) throws -> PostWork {
    guard let arguments = try? JSON.decode(PostJob.self, from: job.arguments) else {
      throw StoreError.unreadableJob(job.publicID)
    }
    guard let hash = job.definition.flatMap({ SHA256Digest(bytes: $0) }),
      let body = try session.execute(Self.statements["definition"], .bytes(hash.bytes)).first,
      let definition = try? JSON.decode(
        Definition.self, from: Array(try body.get("body", as: String.self).utf8))
    else { throw StoreError.noDefinition(job.publicID) }
    guard let row = try session.execute(Self.statements["post"], .text(arguments.post.description)).first,
      let set = try row.get("source_set_id", as: Int64?.self)
    else { throw StoreError.noPost(arguments.post) }
    let sources = try assets(ofSet: set, session)
    let hashOf = { (role: Role) throws(StoreError) -> SHA256Digest in
      guard let asset = sources.first(where: { $0.role == role }), let hash = SHA256Digest(hex: asset.sha256) else {
        throw .noSource(arguments.post, role)
      }
      return hash
    }
    return PostWork(
      post: arguments.post, foreground: try PostDraft.word(row, "foreground"), definition: definition,
      definitionHash: hash, front: try hashOf(.sourceFront), back: try hashOf(.sourceBack))
  }

  /// The media were accepted: the outputs become the post's current set, the post is ready, the job is done.
  ///
  /// - Parameter recipe: what decides about the bytes of the outputs, as a hash.
  package func publish(
    _ outputs: [NewAsset], of work: PostWork, recipe: SHA256Digest, job: ClaimedJob, verdict: Verdict,
    _ session: Session
  ) throws {
    // The fence comes first: what follows is written by the holder of the lease or not at all.
    try JobQueue.complete(job, .accepted, result: try JSON.encode(verdict), session)
    let set = try keepSet(
      outputs, definition: work.definitionHash, recipe: recipe, job: job.publicID, session)
    guard
      try !session.execute(Self.statements["publish"], .text(work.post.description), .integer(set)).isEmpty
    else { throw StoreError.noPost(work.post) }
    try session.execute(Self.statements["forgive_crashes"], .bytes(work.inputs.bytes))
    if !work.definition.keepSources { try dropSources(of: work.post, session) }
  }

  /// The media were rejected: the post keeps the reasons and loses its sources, the job is done.
  ///
  /// Call `collectReleased` after the commit.
  package func reject(
    _ work: PostWork, job: ClaimedJob, verdict: Verdict, _ session: Session
  ) throws {
    try JobQueue.complete(job, .rejected, result: try JSON.encode(verdict), session)
    let reasons = try JSON.text(verdict.reasons)
    try session.execute(Self.statements["reject"], .text(work.post.description), .text(reasons))
    try dropSources(of: work.post, session)
  }

  /// Counts a media process that these inputs broke; how often it has happened.
  package func countCrash(of work: PostWork, error: String, _ session: Session) throws(PostgresError) -> Int {
    try session.execute(Self.statements["count_crash"], .bytes(work.inputs.bytes), .text(error)).single().get("crashes")
  }

  /// The job is dead or cancelled: its post, if it still waits, has failed.
  package func fail(job: PublicID, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["fail"], .text(job.description))
  }

  private func dropSources(of post: PublicID, _ session: Session) throws {
    let rows = try session.execute(Self.statements["drop_sources"], .text(post.description))
    if let set = try rows.first?.get("source_set_id", as: Int64.self) { try dropSet(set, session) }
  }
}
