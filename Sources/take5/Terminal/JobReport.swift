import FoundationEssentials
import Model
import Queue

/// A job as the command line shows it.
struct JobReport: Encodable {
  let number: Int64
  let id: PublicID
  let kind: String
  let state: JobState
  let attempt: Int
  let maxAttempts: Int
  let lost: Int
  let progress: Double
  let stage: String?
  let author: String?
  let request: String?
  let createdAt: Date
  let startedAt: Date?
  let finishedAt: Date?
  let error: String?
  let verdict: Verdict?

  init(_ job: JobRecord) {
    number = job.id
    id = job.publicID
    kind = job.kind
    state = job.state
    attempt = job.attempt
    maxAttempts = job.maxAttempts
    lost = job.lost
    progress = job.progress.fraction
    stage = job.progress.stage.isEmpty ? nil : job.progress.stage
    author = job.author
    request = job.request
    createdAt = job.createdAt
    startedAt = job.startedAt
    finishedAt = job.finishedAt
    error = job.error
    verdict = job.result.flatMap { try? JSON.decode(Verdict.self, from: $0) }
  }

  /// One line of a list.
  var line: String {
    let outcome = verdict.map { " \($0.verdict.rawValue)" } ?? ""
    var words = "\(number)  \(id)  \(JSON.text(of: createdAt))  \(kind)  \(state.rawValue)\(outcome)"
    words += "  attempt \(attempt)/\(maxAttempts)"
    if let author { words += "  \(author)" }
    return words
  }

  /// Everything, for a person.
  var text: String {
    var lines = [line]
    if state == .executing { lines.append("  \(Int(progress * 100)) %  \(stage ?? "")") }
    if let request { lines.append("  request \(request)") }
    if lost > 0 { lines.append("  its worker was lost \(lost) times") }
    if let error { lines.append("  last error: \(error)") }
    if let verdict { lines.append(VerdictText.text(of: verdict, explains: true)) }
    return lines.joined(separator: "\n")
  }
}
