import Model
package import Postgres
package import Queue

/// The kinds of jobs that this version knows. A job of another kind is postponed, because a newer worker may know it.
package enum JobKinds {
  /// The kinds that need a media process.
  static let media: [any MediaJob.Type] = [
    PostJob.self,
    LookJob.self,
    ImageJob.self,
    ReprocessJob.self,
  ]

  /// The kinds that need none.
  static let tasks: [any TaskJob.Type] = [ForgetJob.self]

  /// The queues of submissions, in the order in which people wait for their jobs.
  package static let submissionQueues = [LookJob.queue, PostJob.queue]

  /// The queue of the jobs that need no media process.
  package static let taskQueue = "tasks"
}

/// A kind of job: the type of its arguments, which says what a worker does with them.
package protocol JobKind: Decodable, Sendable {
  /// The name of the kind in the database.
  static var kind: String { get }
}

/// A kind of job that makes the outputs of a post or an image, and needs a media process for that.
package protocol MediaJob: JobKind {
  /// The queue of submissions or of reprocessing.
  static var queue: String { get }

  /// The distance in seconds between the ranks of two jobs of an author that are submitted at once: about the time that one takes where
  /// all are busy.
  static var turn: Double { get }

  /// At most one live job has it; nil: the job has none.
  var uniqueKey: [UInt8]? { get }

  /// Reads the work of a job; nil if nothing is to be done any more.
  func work(for job: ClaimedJob, in store: Store, _ session: Session) throws -> Work?
}

extension MediaJob {
  package static var turn: Double { 1 }
  package var uniqueKey: [UInt8]? { nil }
}

/// A kind of job that needs no media process, and is one transaction, or several in a row.
package protocol TaskJob: JobKind {
  /// Does what waits for a disk, before each transaction; it may be done several times.
  func prepare(_ job: ClaimedJob, in store: Store, _ pool: Pool) async throws

  /// Performs the job, or its next batch, in the transaction that completes it or gives it back, so once, regardless of the
  /// number of attempts.
  func perform(_ job: ClaimedJob, in store: Store, _ session: Session) throws -> TaskStep
}

extension TaskJob {
  package func prepare(_ job: ClaimedJob, in store: Store, _ pool: Pool) async throws {}
}

/// What a transaction of a job without media has done.
package enum TaskStep: Sendable, Hashable {
  /// A part: the job is given back, and continues after the others that wait.
  case batch
  /// The rest.
  case last
}

extension JobKind {
  /// Decodes the arguments of a job.
  init(of job: ClaimedJob) throws(StoreError) {
    do { self = try JSON.decode(Self.self, from: job.arguments) } catch {
      throw .unreadableJob(job.publicID, JSON.reason(error))
    }
  }
}
