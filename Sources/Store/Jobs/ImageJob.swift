import Model
package import Postgres
package import Queue

/// The arguments of a job that makes the outputs of an image.
package struct ImageJob: MediaJob, Encodable {
  package static let kind = "image"
  package static let queue = PostJob.queue

  let image: PublicID

  package func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work? {
    try WorkReader.work(on: .image(image), by: job.definitionHash, job: job.publicID, session)
  }
}
