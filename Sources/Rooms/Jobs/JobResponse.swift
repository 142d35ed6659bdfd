import FoundationEssentials
internal import Kit
internal import Model
internal import Queue

/// The JSON of a job for clients; unknown values are null.
struct JobResponse: Encodable {
  private let job: JobRecord
  private let prefix: String

  /// - Parameter prefix: that of the URLs of the service.
  init(_ job: JobRecord, prefix: String) { (self.job, self.prefix) = (job, prefix) }

  func encode(to encoder: any Encoder) throws {
    var container = try job.encodeProgress(to: encoder, prefix: prefix)
    // The error itself is only for the operator (`take5 jobs show`): it may contain hosts, paths and statements.
    try container.encode(job.error == nil ? nil : "an attempt failed", forKey: .error)
    try container.encode(try job.result.map { try JSON.decode(Verdict.self, from: $0) }, forKey: .verdict)
  }
}

/// The JSON of a job for operators: with the error of the last attempt, without the decisions.
struct JobEntryResponse: Encodable {
  private let job: JobRecord
  private let prefix: String

  /// - Parameter prefix: that of the URLs of the service.
  init(_ job: JobRecord, prefix: String) { (self.job, self.prefix) = (job, prefix) }

  func encode(to encoder: any Encoder) throws {
    var container = try job.encodeProgress(to: encoder, prefix: prefix)
    try container.encode(job.queue, forKey: .queue)
    try container.encode(job.lost, forKey: .lost)
    try container.encode(job.author, forKey: .author)
    try container.encode(job.request, forKey: .request)
    try container.encode(job.runAt, forKey: .runAt)
    try container.encode(job.error, forKey: .error)
    try container.encode(
      job.state == .completed ? (job.isRejected ? "rejected" : "accepted") : nil, forKey: .verdict)
  }
}

private enum JobKey: CodingKey {
  case id, queue, kind, state, progress, stage, attempt, maxAttempts, lost, author, request, createdAt, runAt
  case startedAt, finishedAt, error, verdict, url
}

extension JobRecord {
  /// Encodes what both clients and operators read; returns the container for the rest.
  fileprivate func encodeProgress(
    to encoder: any Encoder, prefix: String
  ) throws -> KeyedEncodingContainer<JobKey> {
    var container = encoder.container(keyedBy: JobKey.self)
    try container.encode(publicID, forKey: .id)
    try container.encode(kind, forKey: .kind)
    try container.encode(state, forKey: .state)
    try container.encode(progress.fraction, forKey: .progress)
    try container.encode(progress.stage.isEmpty ? nil : progress.stage, forKey: .stage)
    try container.encode(attempt, forKey: .attempt)
    try container.encode(maxAttempts, forKey: .maxAttempts)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encode(startedAt, forKey: .startedAt)
    try container.encode(finishedAt, forKey: .finishedAt)
    try container.encode(prefix + JobSummaryResponse.path(publicID), forKey: .url)
    return container
  }
}
