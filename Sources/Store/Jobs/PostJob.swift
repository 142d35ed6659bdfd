import Model
package import Postgres
package import Queue

/// The arguments of a job that makes the first outputs of a post.
package struct PostJob: MediaJob, Encodable {
  package static let kind = "post"
  /// The queue of the jobs for submissions.
  package static let queue = "media"

  package static let turn = 10.0

  let post: PublicID

  package func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work? {
    try WorkReader.work(on: .post(post), by: job.definitionHash, job: job.publicID, session)
  }
}
