import Model

/// A job as the API tells it, as far as the command line reads it.
struct JobAnswer: Decodable {
  let id: PublicID
  let state: JobState
  let progress: Double
  let stage: String?
  let url: String?
  let verdict: Verdict?
  let error: String?
}
