import Model
package import Postgres
import Queue

/// Subjects whose jobs are lost: a row was changed by hand, or restored from another time than the queue.
package enum LostJobs {
  /// Enqueues a job for a post or an image that waits for outputs and has none; one that has outputs is ready without it.
  ///
  /// Does nothing if no definition for its media is stored.
  package static func restore(of subject: Subject, _ store: Store, _ session: Session) throws {
    let lock: Statement
    let (setJob, setReady): (Statement, Statement)
    switch subject {
    case .post:
      lock = Store.statements["lock_without_job"]
      (setJob, setReady) = (Store.statements["set_job"], Store.statements["set_ready"])
    case .image:
      lock = Store.statements["lock_image_without_job"]
      (setJob, setReady) = (Store.statements["set_job_of_image"], Store.statements["set_image_ready"])
    }
    let id = Parameter.text(subject.id.description)
    // Twice: what another repair has enqueued while the lock was waited for is in the snapshot of the second statement only.
    guard try !session.execute(lock, id).isEmpty, let row = try session.execute(lock, id).first else { return }
    if try row.get("has_outputs", as: Bool.self) {
      try session.execute(setReady, id)
      return
    }
    guard let definition = try definition(of: subject, row, session) else { return }
    let (job, author) = (PublicID.now(), try row.get("author", as: String.self))
    try Store.insert(definition, session)
    try session.execute(setJob, id, .text(job.description))
    switch subject {
    case .post(let post):
      try store.enqueue(PostJob(post: post), as: job, by: author, definition, request: nil, session)
      try JobQueue.notify(queue: PostJob.queue, session)
    case .image(let image):
      try store.enqueue(ImageJob(image: image), as: job, by: author, definition, request: nil, session)
      try JobQueue.notify(queue: ImageJob.queue, session)
    }
  }

  /// The definition of the lost job if that is known, otherwise the latest for the kind and the media of the subject.
  private static func definition(of subject: Subject, _ row: Row, _ session: Session) throws -> StoredDefinition? {
    let kind: SubjectKind = try row.enumValue("kind")
    let (_, sources) = try WorkReader.sources(of: subject, session)
    let isOfClips = !sources.contains { $0.role == .sourcePhoto }
    let job: String? = try row.get("job")
    for found in try session.execute(
      Store.statements["definitions_of_lost_job"], .text(job), .texts(kind.definitionNames))
    {
      let body = Array(try found.get("body", as: String.self).utf8)
      let decoded: MediaDefinition
      // One of another version, perhaps.
      do { decoded = try JSON.decode(MediaDefinition.self, from: body) } catch { continue }
      let definition = try StoredDefinition(decoded)
      if definition.isForClips == isOfClips { return definition }
    }
    return nil
  }
}
