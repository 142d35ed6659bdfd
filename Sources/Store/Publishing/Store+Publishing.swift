package import Crypto
package import Model
package import Postgres
package import Queue

/// The ends of attempts: publication, rejection and failure. Each function runs in a transaction of the caller's,
/// fenced by the job's token.
extension Store {
  /// Publishes the outputs of accepted media: they become the current set, the subject becomes ready, and the job
  /// completes.
  ///
  /// If the kind of an image replaces, the images of the owner that were submitted earlier lose their sets; the outputs
  /// of an image that was submitted before the current one are discarded. Call `collectReleased` after the commit.
  ///
  /// - Parameters:
  ///   - recipe: the recipe of the outputs.
  ///   - seconds: the duration of the attempt.
  /// - Returns: whether readers see the outputs; false for a first look that came after them.
  @discardableResult
  package func publish(
    _ outputs: [NewAsset], of work: Work, recipe: SHA256Digest, job: ClaimedJob, verdict: Verdict, seconds: Double,
    _ session: Session
  ) throws -> Bool {
    // The fence comes first: it throws unless the worker holds the lease.
    try JobQueue.complete(job, .accepted, result: try JSON.encode(verdict), session)
    if work.reprocessing != nil {
      try Reprocessing.replace(
        outputs, of: work, recipe: recipe, job: job.publicID, verdict: verdict, seconds: seconds, self, session)
      return true
    }
    if let look = work.look { return try show(outputs, look, of: work, recipe: recipe, job: job.publicID, session) }
    try publishFirst(
      work,
      {
        let set = try insertSet(outputs, definition: work.definitionHash, recipe: recipe, job: job.publicID, session)
        // The post is locked after the blobs, which a first look has in common.
        try setOffset(of: work, verdict, session)
        return set
      }, session)
    return true
  }

  /// Shows the first look of a post until its outputs are complete; false if they are already.
  private func show(
    _ outputs: [NewAsset], _ look: Work.Look, of work: Work, recipe: SHA256Digest, job: PublicID, _ session: Session
  ) throws -> Bool {
    // The blobs before the post, as in a publication of the outputs, which have some of them in common.
    let set = try insertSet(outputs, definition: work.definitionHash, recipe: recipe, job: job, session)
    let shown = try session.execute(
      Self.statements["show_look"], .text(work.subject.id.description), .integer(set), .text(look.audience.rawValue))
    guard let row = shown.first else {
      try Assets.dropSet(set, session)
      return false
    }
    try Self.notify(row.get("author"), of: .postPreviewed, by: nil, post: work.subject.id, session)
    return true
  }

  /// Stores by how much the clips of a moment are apart; nil if that is not known, or not any more.
  func setOffset(of work: Work, _ verdict: Verdict, _ session: Session) throws {
    guard case .post(let id) = work.subject else { return }
    try session.execute(
      Self.statements["set_offset"], .text(id.description), .double(verdict.moment?.offsetSeconds))
  }

  /// Publishes the first outputs of a subject.
  ///
  /// - Parameter insert: inserts the set of the outputs; not called if the outputs are discarded.
  func publishFirst(_ work: Work, _ insert: () throws -> Int64, _ session: Session) throws {
    switch work.subject {
    case .post(let id):
      let set = try insert()
      let published = try session.execute(Self.statements["publish"], .text(id.description), .integer(set))
      guard let row = published.first else { throw StoreError.noSubject(work.subject) }
      try releaseInputs(of: work, session)
      try Reprocessing.remakeIfOutdated(work, row, session)
      try announce(row.enumValue("status"), of: id, by: row.get("author"), session)
    case .image(let id): try publish(image: id, work, insert, session)
    }
  }

  /// Resets the crash count of the inputs of published outputs, and drops the sources unless the definition keeps them.
  func releaseInputs(of work: Work, _ session: Session) throws {
    try Quarantine.resetCrashes(of: work, session)
    if !work.keepsSources { try dropSources(of: work.subject, session) }
  }

  private func publish(image id: PublicID, _ work: Work, _ insert: () throws -> Int64, _ session: Session) throws {
    let viewer = Viewer.unrestricted.parameter
    guard let row = try session.execute(Self.statements["image"], .text(id.description), viewer).first else {
      throw StoreError.noSubject(work.subject)
    }
    let kind: ImageKind = try row.enumValue("kind")
    if kind == .reaction {
      // The post before its image, as in a deletion.
      try session.execute(Self.statements["lock_post"], .text(row.get("owner")), viewer)
    }
    var set: Int64?
    if kind.replaces {
      try session.execute(Self.statements["lock_image_owner"], .text(id.description))
      if try session.execute(Self.statements["is_superseded"], .text(id.description)).isEmpty {
        for older in try session.execute(Self.statements["replace_images"], .text(id.description)) {
          try Assets.dropSet(try older.get("asset_set_id"), session)
        }
        set = try insert()
      }
    } else {
      set = try insert()
    }
    let status: ImageStatus = set == nil ? .replaced : .ready
    guard
      try !session.execute(
        Self.statements["publish_image"], .text(id.description), .integer(set), .text(status.rawValue)
      ).isEmpty
    else { throw StoreError.noSubject(work.subject) }
    if kind == .reaction { try session.execute(Self.statements["count_reactions"], .text(id.description), .integer(1)) }
    try releaseInputs(of: work, session)
    if let author = try row.get("post_author", as: String?.self) {
      try Self.notify(
        author, of: .reaction, by: row.get("author"), post: PublicID(row.get("owner", as: String.self)), subject: id,
        session)
    }
  }

  /// Records the rejection of media: the subject gets the reasons, and the job completes. Its sources are kept for a while, unless
  /// the store keeps none.
  ///
  /// The outputs of a subject that is reprocessed do not change; the item of the run fails. Call `collectReleased` after the commit.
  package func reject(_ work: Work, job: ClaimedJob, verdict: Verdict, _ session: Session) throws {
    try JobQueue.complete(job, .rejected, result: try JSON.encode(verdict), session)
    if work.reprocessing != nil {
      return try Reprocessing.reject(work, itemOf: job.publicID, verdict: verdict, session)
    }
    let reasons = try JSON.text(verdict.reasons)
    let statement =
      switch work.subject {
      case .post: Self.statements["reject"]
      case .image: Self.statements["reject_image"]
      }
    let rejected = try session.execute(statement, .text(work.subject.id.description), .text(reasons))
    if keepRejected > .zero {
      try session.execute(Self.statements["keep_rejected"], .text(work.subject.id.description))
    } else {
      try dropSources(of: work.subject, session)
    }
    if case .post(let id) = work.subject, let row = rejected.first {
      try Self.notify(row.get("author"), of: .postRejected, by: nil, post: id, session)
    }
  }

  /// Removes sources whose time for rejected media has passed, and returns their number.
  ///
  /// Call it in a transaction of its own, and `collectReleased` after the commit.
  package func dropRejectedSources(limit: Int = 100, _ session: Session) throws -> Int {
    let parameters: [Parameter] = [.double(keepRejected / .seconds(1)), .integer(limit)]
    let posts = try session.execute(Self.statements["expired_sources_of_posts"], parameters)
    let images = try session.execute(Self.statements["expired_sources_of_images"], parameters)
    let subjects: [Subject] =
      try posts.map { .post(try $0.publicID("public_id")) } + images.map { .image(try $0.publicID("public_id")) }
    for subject in subjects { try dropSources(of: subject, session) }
    return subjects.count
  }

  private func dropSources(of subject: Subject, _ session: Session) throws {
    let statement =
      switch subject {
      case .post: Self.statements["drop_sources"]
      case .image: Self.statements["drop_image_sources"]
      }
    let rows = try session.execute(statement, .text(subject.id.description))
    if let set = try rows.first?.get("source_set_id", as: Int64.self) { try Assets.dropSet(set, session) }
  }
}
