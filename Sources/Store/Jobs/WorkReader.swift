import Crypto
import Model
import Postgres
import Queue

/// The input of attempts.
enum WorkReader {
  /// Reads the work of an item of a run; nil if the item has an outcome already.
  static func reprocessingWork(
    on subject: Subject, by definition: SHA256Digest, job: PublicID, _ session: Session
  ) throws -> Work? {
    guard let reprocessing = try reprocessing(job: job, session) else { return nil }
    var work = try work(on: subject, by: definition, job: job, session)
    work.reprocessing = reprocessing
    return work
  }

  /// Reads the options of a job's run and the current outputs of the subject; nil if the job has no item without an
  /// outcome.
  private static func reprocessing(job: PublicID, _ session: Session) throws -> Work.RunItem? {
    guard let row = try session.execute(Reprocessing.statements["item"], .text(job.description)).first else {
      return nil
    }
    let set: Int64? = try row.get("asset_set_id")
    let recipe = try row.get("recipe", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) }
    let blobs =
      try set.map { set in
        try session.execute(Reprocessing.statements["blobs_of_set"], .integer(set)).compactMap {
          SHA256Digest(bytes: try $0.get("hash"))
        }
      } ?? []
    return Work.RunItem(
      state: try row.enumValue("state"), keepsOld: try row.get("keeps_old"), isForced: try row.get("is_forced"),
      currentSet: set, recipe: recipe, blobs: blobs)
  }

  /// Reads the work of a job for a first look; nil if it is too late for one, or if attempts at the media have crashed: these are left to
  /// the job that makes the outputs.
  static func lookWork(
    on post: PublicID, by definition: SHA256Digest, job: PublicID, _ session: Session
  ) throws -> Work? {
    guard let row = try session.execute(Store.statements["composition"], .text(post.description)).first else {
      return nil
    }
    var work = try work(on: .post(post), by: definition, job: job, session)
    guard !work.isSuspect, work.refusals.isEmpty else { return nil }
    work.look = Work.Look(audience: work.audience, composition: try row.publicID("job"))
    return work
  }

  /// Reads the work of a job for the first outputs.
  static func work(on subject: Subject, by hash: SHA256Digest, job: PublicID, _ session: Session) throws -> Work {
    guard let body = try session.execute(Store.statements["definition"], .bytes(hash.bytes)).first else {
      throw StoreError.noDefinition(job)
    }
    let definition = Array(try body.get("body", as: String.self).utf8)
    let (row, sources) = try sources(of: subject, session)
    let content: Work.Content
    if case .post = subject, try row.enumValue("kind") == PostKind.take5 {
      content = .moment(
        Work.Moment(
          foreground: try row.enumValue("foreground"), definition: try read(definition, of: job),
          front: try hashes(sources, .sourceFront, subject)[0], back: try hashes(sources, .sourceBack, subject)[0]))
    } else if let clip = try? hashes(sources, .sourceClip, subject).first {
      content = .clip(Work.Clip(definition: try read(definition, of: job), clip: clip))
    } else {
      content = .photos(
        Work.Photos(
          definition: try read(definition, of: job), photos: try hashes(sources, .sourcePhoto, subject)))
    }
    let files = sources.compactMap { source in SHA256Digest(hex: source.sha256).map { (source, hash: $0) } }
    var work = Work(
      subject: subject, definitionHash: hash, content: content,
      sources: Dictionary(files.map { ($0.hash, $0.0.bytes) }) { first, _ in first })
    let inputs = MediaInput.all(of: files.map { ($0.0.role, $0.0.place, $0.hash) })
    let found = try Quarantine.crashes(of: inputs, session)
    work.isSuspect = !found.suspects.isDisjoint(with: work.inputs)
    work.refusals = found.refusals
    return work
  }

  static func read<Body: Decodable>(_ definition: [UInt8], of job: PublicID) throws(StoreError) -> Body {
    do { return try JSON.decode(Body.self, from: definition) } catch {
      if (try? JSON.decode(MediaDefinition.self, from: definition)) != nil { throw .otherMedia(job) }
      throw .unreadableDefinition(job, JSON.reason(error))
    }
  }

  static func sources(of subject: Subject, _ session: Session) throws -> (row: Row, sources: [Asset]) {
    let statement =
      switch subject {
      case .post: Store.statements["post"]
      case .image: Store.statements["image"]
      }
    guard let row = try session.execute(statement, .text(subject.id.description), Viewer.unrestricted.parameter).first,
      let set = try row.get("source_set_id", as: Int64?.self)
    else { throw StoreError.noSubject(subject) }
    return (row, try Assets.list(ofSet: set, session))
  }

  /// Returns the hashes of the sources of a role, at least one.
  private static func hashes(_ sources: [Asset], _ role: Role, _ subject: Subject) throws(StoreError) -> [SHA256Digest]
  {
    let hashes = sources.filter { $0.role == role }.sorted { $0.place < $1.place }
      .compactMap { SHA256Digest(hex: $0.sha256) }
    guard !hashes.isEmpty else { throw .noSource(subject, role) }
    return hashes
  }
}

extension ClaimedJob {
  /// The hash of the definition of a job with media.
  var definitionHash: SHA256Digest {
    get throws(StoreError) {
      guard let hash = definition.flatMap({ SHA256Digest(bytes: $0) }) else { throw .noDefinition(publicID) }
      return hash
    }
  }
}
