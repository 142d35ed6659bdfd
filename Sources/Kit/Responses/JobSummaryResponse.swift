package import Model
internal import Queue

/// The JSON of a job inside a post or an image; `url` is null for a client that the job is not for.
package struct JobSummaryResponse: NilEncodable {
  let id: PublicID
  let state: JobState
  let progress: Double
  let url: String?

  package init(_ job: JobSummary, isReadable: Bool, _ urls: MediaURLs) {
    id = job.id
    state = job.state
    progress = job.progress
    url = isReadable ? urls.prefix + Self.path(job.id) : nil
  }

  /// The path of a job.
  package static func path(_ id: PublicID) -> String { "/v1/jobs/\(id)" }
}
