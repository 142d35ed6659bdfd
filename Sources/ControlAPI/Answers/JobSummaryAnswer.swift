internal import Model

/// A job as a post tells of it.
struct JobSummaryAnswer: Encodable {
  let id: PublicID
  let state: JobState
  let progress: Double
  let url: String

  init(_ job: JobSummary) {
    id = job.id
    state = job.state
    progress = job.progress
    url = Self.path(job.id)
  }

  /// Where a job is read.
  static func path(_ id: PublicID) -> String { "/v1/jobs/\(id)" }
}
