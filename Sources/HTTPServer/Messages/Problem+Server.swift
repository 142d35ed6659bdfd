/// What the server itself answers, whatever the routes are.
extension Problem {
  static func malformedRequest(_ detail: String) -> Problem {
    Problem(.badRequest, detail: detail, remedy: "Send the request as RFC 9112 describes it.")
  }

  static func bodyTooLarge(limit: Int64) -> Problem {
    Problem(
      .contentTooLarge, detail: "The request's body is longer than the \(limit) bytes accepted here.",
      remedy: "Send at most \(limit) bytes.")
  }

  static let tooSlow = Problem(
    .requestTimeout, detail: "The request took longer than the server waits.", remedy: "Send it again.")

  static let cutShort = Problem(
    .badRequest, detail: "The connection ended before the body did.", remedy: "Send the whole body.")

  static let stopping = Problem(
    .serviceUnavailable, detail: "The server is stopping.", remedy: "Send the request again in a moment.",
    headers: ["Retry-After": "1"])

  static let tooManyConnections = Problem(
    .serviceUnavailable, detail: "The server has as many connections as it takes.",
    remedy: "Try again in a moment.", headers: ["Retry-After": "1"])

  static let tooManyFromAddress = Problem(
    .tooManyRequests, detail: "Your address has as many connections or requests under way as one may have.",
    remedy: "Close some, or use them for several requests.", headers: ["Retry-After": "1"])

  static let tooManyStreams = Problem(
    .serviceUnavailable, detail: "The server sends as many streams of events as it may.",
    remedy: "Try again in a moment, or ask for the state instead.", headers: ["Retry-After": "5"])

  static func internalError(_ id: RequestID) -> Problem {
    Problem(
      .internalServerError, detail: "The server failed in a way it was not made for.",
      remedy: "Report the request id \(id); the server's log has the rest.")
  }
}
