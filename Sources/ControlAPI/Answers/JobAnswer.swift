import FoundationEssentials
internal import Model
internal import Queue

/// A job as clients read it; what is not known yet is null.
struct JobAnswer: Encodable {
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
    // What exactly failed is for the operator (`take5 jobs show`): it may name hosts, paths and statements.
    try container.encode(job.error == nil ? nil : "an attempt failed", forKey: .error)
    try container.encode(try job.result.map { try JSON.decode(Verdict.self, from: $0) }, forKey: .verdict)
    try container.encode(JobSummaryAnswer.path(job.publicID), forKey: .url)
  }
}
