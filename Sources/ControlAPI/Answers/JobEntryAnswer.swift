import FoundationEssentials
internal import Model
internal import Queue

/// A job as operators read it in lists: with what failed, and without what was decided.
struct JobEntryAnswer: Encodable {
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
    try container.encode(JobSummaryAnswer.path(job.publicID), forKey: .url)
  }
}
