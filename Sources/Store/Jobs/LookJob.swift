import Model
package import Postgres
package import Queue

/// The arguments of a job that makes the first look of a post, which is seen while the post waits for its outputs.
package struct LookJob: MediaJob, Encodable {
  package static let kind = "look"
  /// The queue of first looks: none waits for a composition.
  package static let queue = "looks"

  static let deadlineSeconds = 10
  // Other authors come between two of one author, also if these are slow.
  package static let turn = 10.0

  let post: PublicID

  /// The fragment `look_key`: the deletion of the post finds the job by it.
  package var uniqueKey: [UInt8]? { Array("look:\(post)".utf8) }

  package func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work? {
    try WorkReader.lookWork(on: post, by: job.definitionHash, job: job.publicID, session)
  }
}
