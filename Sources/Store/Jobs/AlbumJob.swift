import Model
package import Postgres
package import Queue

/// The arguments of a job that makes the first outputs of a post of photos.
package struct AlbumJob: MediaJob {
  package static let kind = "album"
  package static let queue = PostJob.queue

  let post: PublicID

  package func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work? {
    try store.work(on: .post(post), by: job.definitionHash, job: job.publicID, session)
  }
}
