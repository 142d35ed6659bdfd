import Model

/// What the API answers, as far as tests read it.
struct PostAnswer: Decodable {
  struct Asset: Decodable {
    let url: String
    let type: String
    let bytes: Int
    let width: Int?
    let height: Int?
    let duration: Double?
    let thumbhash: String?
  }

  struct Job: Decodable {
    let id: PublicID
    let state: JobState
    let progress: Double
    let url: String
  }

  let id: PublicID
  let kind: String
  let status: PostStatus
  let author: String
  let caption: String?
  let foreground: Camera
  let job: Job?
  let reasons: [Reason]
  let assets: [Role: Asset]
}

/// A job as the API answers it.
struct JobAnswer: Decodable {
  let state: JobState
  let attempt: Int
  let verdict: Verdict?
}

/// A refusal (RFC 9457).
struct ProblemAnswer: Decodable {
  struct Field: Decodable {
    let field: String
  }

  let status: Int
  let reasons: [Reason]?
  let errors: [Field]?
}
