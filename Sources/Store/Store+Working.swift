package import Crypto
package import Model
package import Postgres
package import Queue

/// What a worker reads and writes; each ending is one transaction of the caller's, fenced by the job's token.
extension Store {
  /// What the job is about; nil if it is one of a run whose item is over.
  package func work(for job: ClaimedJob, _ session: Session) throws -> Work? {
    let subject = try subject(of: job)
    guard let hash = job.definition.flatMap({ SHA256Digest(bytes: $0) }) else {
      throw StoreError.noDefinition(job.publicID)
    }
    guard job.kind == ReprocessJob.kind else { return try work(on: subject, by: hash, job: job.publicID, session) }
    return try workAgain(on: subject, by: hash, job: job.publicID, session)
  }

  /// What the item of a run is about, and what its subject has now; nil if it is over.
  func workAgain(
    on subject: Subject, by definition: SHA256Digest, job: PublicID, _ session: Session
  ) throws -> Work? {
    guard let again = try reprocessing(job: job, session) else { return nil }
    var work = try work(on: subject, by: definition, job: job, session)
    work.reprocessing = again
    return work
  }

  private func work(
    on subject: Subject, by hash: SHA256Digest, job: PublicID, _ session: Session
  ) throws -> Work {
    guard let body = try session.execute(Self.statements["definition"], .bytes(hash.bytes)).first else {
      throw StoreError.noDefinition(job)
    }
    let definition = Array(try body.get("body", as: String.self).utf8)
    let (row, sources) = try sources(of: subject, session)
    let content: Work.Content
    if case .post = subject, try PostDraft.word(row, "kind") == PostKind.take5 {
      content = .moment(
        Work.Moment(
          foreground: try PostDraft.word(row, "foreground"), definition: try read(definition, of: job),
          front: try hashes(sources, .sourceFront, subject)[0], back: try hashes(sources, .sourceBack, subject)[0]))
    } else if let clip = try? hashes(sources, .sourceClip, subject).first {
      content = .clip(Work.Clip(definition: try read(definition, of: job), clip: clip))
    } else {
      content = .photos(
        Work.Photos(
          definition: try read(definition, of: job), photos: try hashes(sources, .sourcePhoto, subject)))
    }
    let lengths = sources.compactMap { source in SHA256Digest(hex: source.sha256).map { ($0, source.bytes) } }
    var work = Work(
      subject: subject, definitionHash: hash, content: content,
      sources: Dictionary(lengths) { first, _ in first })
    work.isSuspect = try !session.execute(Self.statements["is_suspect"], .bytes(work.inputs.bytes)).isEmpty
    return work
  }

  private func read<Body: Decodable>(_ definition: [UInt8], of job: PublicID) throws(StoreError) -> Body {
    do { return try JSON.decode(Body.self, from: definition) } catch {
      throw .unreadableDefinition(job, JSON.reason(error))
    }
  }

  private func subject(of job: ClaimedJob) throws(StoreError) -> Subject {
    do {
      switch job.kind {
      case PostJob.kind: return .post(try JSON.decode(PostJob.self, from: job.arguments).post)
      case ImageJob.kind: return .image(try JSON.decode(ImageJob.self, from: job.arguments).image)
      case ReprocessJob.kind: return try JSON.decode(ReprocessJob.self, from: job.arguments).subject
      default: break
      }
    } catch {
      throw .unreadableJob(job.publicID, JSON.reason(error))
    }
    throw .unknownKind(job.kind, job.publicID)
  }

  private func sources(of subject: Subject, _ session: Session) throws -> (row: Row, sources: [Asset]) {
    let statement =
      switch subject {
      case .post: "post"
      case .image: "image"
      }
    guard let row = try session.execute(Self.statements[statement], .text(subject.id.description)).first,
      let set = try row.get("source_set_id", as: Int64?.self)
    else { throw StoreError.noSubject(subject) }
    return (row, try assets(ofSet: set, session))
  }

  /// The hashes of the sources of a role, one at least.
  private func hashes(_ sources: [Asset], _ role: Role, _ subject: Subject) throws(StoreError) -> [SHA256Digest] {
    let hashes = sources.filter { $0.role == role }.sorted { $0.place < $1.place }
      .compactMap { SHA256Digest(hex: $0.sha256) }
    guard !hashes.isEmpty else { throw .noSource(subject, role) }
    return hashes
  }

  /// The media were accepted: the outputs become the current set, the subject is ready, the job is done.
  ///
  /// Of an image that replaces, those that were submitted before lose their sets; one that comes after a later one is
  /// kept no more. Call `collectReleased` after the commit.
  ///
  /// - Parameters:
  ///   - recipe: what decides about the bytes of the outputs, as a hash.
  ///   - seconds: that were worked on them.
  package func publish(
    _ outputs: [NewAsset], of work: Work, recipe: SHA256Digest, job: ClaimedJob, verdict: Verdict, seconds: Double,
    _ session: Session
  ) throws {
    // The fence comes first: what follows is written by the holder of the lease or not at all.
    try JobQueue.complete(job, .accepted, result: try JSON.encode(verdict), session)
    if work.reprocessing != nil {
      return try replace(outputs, of: work, recipe: recipe, job: job.publicID, seconds: seconds, session)
    }
    try show(
      work, { try insertSet(outputs, definition: work.definitionHash, recipe: recipe, job: job.publicID, session) },
      session)
  }

  /// A subject that waits for its first outputs gets them.
  func show(_ work: Work, _ keep: () throws -> Int64, _ session: Session) throws {
    switch work.subject {
    case .post(let id):
      guard try !session.execute(Self.statements["publish"], .text(id.description), .integer(try keep())).isEmpty else {
        throw StoreError.noSubject(work.subject)
      }
    case .image(let id): try publish(image: id, work, keep, session)
    }
    try settle(work, session)
  }

  /// What follows once outputs are there.
  func settle(_ work: Work, _ session: Session) throws {
    try session.execute(Self.statements["forgive_crashes"], .bytes(work.inputs.bytes))
    if !work.keepsSources { try dropSources(of: work.subject, session) }
  }

  private func publish(image id: PublicID, _ work: Work, _ keep: () throws -> Int64, _ session: Session) throws {
    guard let row = try session.execute(Self.statements["image"], .text(id.description)).first else {
      throw StoreError.noSubject(work.subject)
    }
    let kind: ImageKind = try PostDraft.word(row, "kind")
    var set: Int64?
    if kind.replaces {
      try session.execute(Self.statements["lock_image_owner"], .text(id.description))
      if try session.execute(Self.statements["is_superseded"], .text(id.description)).isEmpty {
        for older in try session.execute(Self.statements["replace_images"], .text(id.description)) {
          try dropSet(try older.get("asset_set_id"), session)
        }
        set = try keep()
      }
    } else {
      set = try keep()
    }
    let status: ImageStatus = set == nil ? .replaced : .ready
    guard
      try !session.execute(
        Self.statements["publish_image"], .text(id.description), .integer(set), .text(status.rawValue)
      ).isEmpty
    else { throw StoreError.noSubject(work.subject) }
    if kind == .reaction { try session.execute(Self.statements["count_reactions"], .text(id.description), .integer(1)) }
  }

  /// The media were rejected: the subject keeps the reasons and loses its sources, the job is done.
  ///
  /// One that is made again keeps what it has instead, and its item has failed. Call `collectReleased` after the commit.
  package func reject(_ work: Work, job: ClaimedJob, verdict: Verdict, _ session: Session) throws {
    try JobQueue.complete(job, .rejected, result: try JSON.encode(verdict), session)
    if work.reprocessing != nil {
      try end(itemOf: job.publicID, .failed(verdict.reasonText), session)
      return
    }
    let reasons = try JSON.text(verdict.reasons)
    let statement =
      switch work.subject {
      case .post: "reject"
      case .image: "reject_image"
      }
    try session.execute(Self.statements[statement], .text(work.subject.id.description), .text(reasons))
    try dropSources(of: work.subject, session)
  }

  /// Notes that a media process ended while it worked on these inputs, which from now on work alone; how often they are
  /// proven to have broken one.
  package func countCrash(
    of work: Work, error: String, isProven: Bool, _ session: Session
  ) throws(PostgresError) -> Int {
    try session.execute(
      Self.statements["count_crash"], .bytes(work.inputs.bytes), .text(error), .integer(isProven ? 1 : 0)
    ).single().get("crashes")
  }

  /// The job is dead or cancelled: what it worked for, if it still waits, has failed.
  package func fail(job: PublicID, _ session: Session) throws(PostgresError) { try fail(jobs: [job], session) }

  /// The same of several.
  func fail(jobs: [PublicID], _ session: Session) throws(PostgresError) {
    guard !jobs.isEmpty else { return }
    for statement in ["fail", "fail_image"] {
      try session.execute(Self.statements[statement], .texts(jobs.map(\.description)))
    }
    try session.execute(Self.runStatements["end_items_of_jobs"], .texts(jobs.map(\.description)))
  }

  private func dropSources(of subject: Subject, _ session: Session) throws {
    let statement =
      switch subject {
      case .post: "drop_sources"
      case .image: "drop_image_sources"
      }
    let rows = try session.execute(Self.statements[statement], .text(subject.id.description))
    if let set = try rows.first?.get("source_set_id", as: Int64.self) { try dropSet(set, session) }
  }
}
