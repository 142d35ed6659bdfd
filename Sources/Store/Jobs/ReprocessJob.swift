import Model
package import Postgres
package import Queue

/// The arguments of a job for an item of a run.
package struct ReprocessJob: MediaJob, Encodable {
  package static let kind = "reprocess"
  /// It differs from the queue of submissions, so that no submission waits for reprocessing.
  package static let queue = "background"
  /// The deadline is long because background work gets only idle processor time.
  static let deadlineSeconds = 3600

  let subject: Subject

  init(subject: Subject) { self.subject = subject }

  package func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work? {
    try WorkReader.reprocessingWork(on: subject, by: job.definitionHash, job: job.publicID, session)
  }

  private enum CodingKeys: String, CodingKey {
    case post, image
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let post = try container.decodeIfPresent(PublicID.self, forKey: .post) {
      subject = .post(post)
    } else {
      subject = .image(try container.decode(PublicID.self, forKey: .image))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch subject {
    case .post(let id): try container.encode(id, forKey: .post)
    case .image(let id): try container.encode(id, forKey: .image)
    }
  }
}
