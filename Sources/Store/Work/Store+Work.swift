import Crypto
import Model
package import Postgres
package import Queue

/// The input of attempts.
extension Store {
  /// Reads the work of a job; nil if the job belongs to an item of a run that has an outcome already.
  package func work(for job: ClaimedJob, _ session: Session) throws -> Work? {
    let subject = try subject(of: job)
    guard let hash = job.definition.flatMap({ SHA256Digest(bytes: $0) }) else {
      throw StoreError.noDefinition(job.publicID)
    }
    guard job.kind == ReprocessJob.kind else { return try work(on: subject, by: hash, job: job.publicID, session) }
    return try reprocessingWork(on: subject, by: hash, job: job.publicID, session)
  }

  /// Reads the work of an item of a run; nil if the item has an outcome already.
  func reprocessingWork(
    on subject: Subject, by definition: SHA256Digest, job: PublicID, _ session: Session
  ) throws -> Work? {
    guard let reprocessing = try reprocessing(job: job, session) else { return nil }
    var work = try work(on: subject, by: definition, job: job, session)
    work.reprocessing = reprocessing
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

  /// Returns the hashes of the sources of a role, at least one.
  private func hashes(_ sources: [Asset], _ role: Role, _ subject: Subject) throws(StoreError) -> [SHA256Digest] {
    let hashes = sources.filter { $0.role == role }.sorted { $0.place < $1.place }
      .compactMap { SHA256Digest(hex: $0.sha256) }
    guard !hashes.isEmpty else { throw .noSource(subject, role) }
    return hashes
  }
}
