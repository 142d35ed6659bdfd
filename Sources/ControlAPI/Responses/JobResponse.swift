import FoundationEssentials
internal import Model
internal import Queue

/// The JSON of a job for clients; unknown values are null.
struct JobResponse: Encodable {
  private let job: JobRecord

  init(_ job: JobRecord) { self.job = job }

  private enum CodingKeys: String, CodingKey {
    case id, kind, state, progress, stage, attempt, maxAttempts, createdAt, startedAt, finishedAt, error, verdict, url
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(job.publicID, forKey: .id)
    try container.encode(job.kind, forKey: .kind)
    try container.encode(job.state, forKey: .state)
    try container.encode(job.progress.fraction, forKey: .progress)
    try container.encode(job.progress.stage.isEmpty ? nil : job.progress.stage, forKey: .stage)
    try container.encode(job.attempt, forKey: .attempt)
    try container.encode(job.maxAttempts, forKey: .maxAttempts)
    try container.encode(job.createdAt, forKey: .createdAt)
    try container.encode(job.startedAt, forKey: .startedAt)
    try container.encode(job.finishedAt, forKey: .finishedAt)
    // The error itself is only for the operator (`take5 jobs show`): it may contain hosts, paths and statements.
    try container.encode(job.error == nil ? nil : "an attempt failed", forKey: .error)
    try container.encode(try job.result.map { try JSON.decode(Verdict.self, from: $0) }, forKey: .verdict)
    try container.encode(JobSummaryResponse.path(job.publicID), forKey: .url)
  }
}

/// The JSON of a job inside a post or an image; `url` is null for a client that the job is not for.
struct JobSummaryResponse: Encodable {
  private let job: JobSummary
  private let isReadable: Bool

  init(_ job: JobSummary, isReadable: Bool) {
    self.job = job
    self.isReadable = isReadable
  }

  private enum CodingKeys: String, CodingKey { case id, state, progress, url }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(job.id, forKey: .id)
    try container.encode(job.state, forKey: .state)
    try container.encode(job.progress, forKey: .progress)
    try container.encode(isReadable ? Self.path(job.id) : nil, forKey: .url)
  }

  /// The path of a job.
  static func path(_ id: PublicID) -> String { "/v1/jobs/\(id)" }
}

/// The JSON of a job for operators: with the error of the last attempt, without the decisions.
struct JobEntryResponse: Encodable {
  private let job: JobRecord

  init(_ job: JobRecord) { self.job = job }

  private enum CodingKeys: String, CodingKey {
    case id, queue, kind, state, progress, stage, attempt, maxAttempts, lost, author, request, createdAt, runAt,
      startedAt, finishedAt, error, verdict, url
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(job.publicID, forKey: .id)
    try container.encode(job.queue, forKey: .queue)
    try container.encode(job.kind, forKey: .kind)
    try container.encode(job.state, forKey: .state)
    try container.encode(job.progress.fraction, forKey: .progress)
    try container.encode(job.progress.stage.isEmpty ? nil : job.progress.stage, forKey: .stage)
    try container.encode(job.attempt, forKey: .attempt)
    try container.encode(job.maxAttempts, forKey: .maxAttempts)
    try container.encode(job.lost, forKey: .lost)
    try container.encode(job.author, forKey: .author)
    try container.encode(job.request, forKey: .request)
    try container.encode(job.createdAt, forKey: .createdAt)
    try container.encode(job.runAt, forKey: .runAt)
    try container.encode(job.startedAt, forKey: .startedAt)
    try container.encode(job.finishedAt, forKey: .finishedAt)
    try container.encode(job.error, forKey: .error)
    try container.encode(
      job.state == .completed ? (job.isRejected ? "rejected" : "accepted") : nil, forKey: .verdict)
    try container.encode(JobSummaryResponse.path(job.publicID), forKey: .url)
  }
}
