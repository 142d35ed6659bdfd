internal import HTTPServer
internal import Kit
internal import Model

/// The media of a submission are rejected for what their containers show.
struct MediaRefusal: RequestRefusal, Sendable, Hashable {
  let reasons: [Reason]

  var problem: Problem {
    ProblemKind.mediaRejected.problem(reasons.map(\.detail).joined(separator: " "), reasons: reasons)
  }
}
