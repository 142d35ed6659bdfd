import Model
package import Postgres
package import Queue

/// The arguments of a job that runs each clip of a quarantined moment without the other, to find out which of them end
/// a media process.
package struct AttributionJob: MediaJob, Encodable {
  package static let kind = "attribution"
  package static let queue = PostJob.queue

  /// The post whose moment was quarantined.
  let post: PublicID
  /// The hash of the moment, in hexadecimal digits.
  let inputs: String

  package func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work? {
    try store.attributionWork(self, job: job.publicID, session)
  }
}
