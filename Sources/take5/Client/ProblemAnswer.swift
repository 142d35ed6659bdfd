import HTTPClient
import Model

/// Why the service refused, as it says it (RFC 9457).
struct ProblemAnswer: Decodable {
  let title: String
  let detail: String?
  let remedy: String?
  let reasons: [Reason]?
}

extension CommandFailure {
  /// An answer that is no success.
  init(_ answer: HTTPAnswer) {
    if 300..<400 ~= answer.status, let location = answer.headers["location"] {
      self.init(
        .usage, "the service is elsewhere: it answers \(answer.status) and names \(location)",
        remedy: "name that server with --server: what is sent, and the key, go to no other than the one that is named")
      return
    }
    let problem = try? JSON.decode(ProblemAnswer.self, from: answer.body)
    let status: ExitStatus =
      switch answer.status {
      case 413, 422: .rejected
      case 400..<500: .usage
      case 502, 503, 504, 507: .unavailable
      default: .internal
      }
    let reasons = (problem?.reasons ?? []).map { "\n  \($0.code.rawValue): \($0.detail)" }.joined()
    let text = problem.map { $0.detail.map { "\($0)" } ?? $0.title } ?? "the service answered \(answer.status)"
    self.init(status, text + reasons, remedy: problem?.remedy)
  }
}
