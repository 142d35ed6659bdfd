/// The kinds of problems that the server itself reports, independent of the routes. The raw values are part of the API and do not
/// change.
///
/// docs/problems.md lists them.
package enum ServerProblem: String, Sendable, CaseIterable {
  case malformedRequest = "malformed_request"
  case resourceNotFound = "resource_not_found"
  case methodNotAllowed = "method_not_allowed"
  case requestTimeout = "request_timeout"
  case outdatedVersion = "outdated_version"
  case bodyTooLarge = "body_too_large"
  case requestLineTooLong = "request_line_too_long"
  case rangeNotSatisfiable = "range_not_satisfiable"
  case expectationFailed = "expectation_failed"
  case tooManyConnections = "too_many_connections"
  case tooManyRequests = "too_many_requests"
  case headTooLarge = "head_too_large"
  case internalError = "internal_error"
  case overloaded
  case stopping
  case versionNotSupported = "version_not_supported"

  /// The start of each type. Problems of routes have it too, so that clients read one list.
  package static let namespace = "urn:take5:problem:"

  /// The problem type URI.
  package var type: String { Self.namespace + rawValue }

  package var status: Status { row.status }
  package var title: String { row.title }

  private var row: (status: Status, title: String) {
    switch self {
    case .malformedRequest: (.badRequest, "The request is malformed")
    case .resourceNotFound: (.notFound, "No such resource")
    case .methodNotAllowed: (.methodNotAllowed, "The resource does not support the method")
    case .requestTimeout: (.requestTimeout, "The request took too long")
    case .outdatedVersion: (.preconditionFailed, "The version is not the current one")
    case .bodyTooLarge: (.contentTooLarge, "The body is too large")
    case .requestLineTooLong: (.uriTooLong, "The request line is too long")
    case .rangeNotSatisfiable: (.rangeNotSatisfiable, "The range is outside the file")
    case .expectationFailed: (.expectationFailed, "The expectation is not supported")
    case .tooManyConnections: (.tooManyRequests, "The address has too many connections")
    case .tooManyRequests: (.tooManyRequests, "Too many requests")
    case .headTooLarge: (.headerFieldsTooLarge, "The head of the request is too large")
    case .internalError: (.internalServerError, "The service failed")
    case .overloaded: (.serviceUnavailable, "The service is overloaded")
    case .stopping: (.serviceUnavailable, "The service is stopping")
    case .versionNotSupported: (.versionNotSupported, "The version of HTTP is not supported")
    }
  }
}

extension Problem {
  package init(_ kind: ServerProblem, detail: String, remedy: String, headers: HeaderFields = [:]) {
    self.init(kind.status, type: kind.type, title: kind.title, detail: detail, remedy: remedy, headers: headers)
  }

  static func malformedRequest(_ detail: String) -> Problem {
    Problem(.malformedRequest, detail: detail, remedy: "Send the request as RFC 9112 describes it.")
  }

  static func bodyTooLarge(limit: Int64) -> Problem {
    Problem(
      .bodyTooLarge, detail: "The request body is longer than the \(limit) bytes that this route accepts.",
      remedy: "Send at most \(limit) bytes.")
  }

  static let tooSlow = Problem(
    .requestTimeout, detail: "The request took longer than the server allows.", remedy: "Send it again.")

  static let incompleteBody = Problem(
    .malformedRequest, detail: "The connection was closed before the body was complete.",
    remedy: "Send the complete body.")

  static let stopping = Problem(
    .stopping, detail: "The server is stopping.", remedy: "Send the request again in a moment.",
    headers: ["Retry-After": "1"])

  static let tooManyConnections = Problem(
    .overloaded, detail: "The server has reached its maximum number of connections.",
    remedy: "Try again in a moment.", headers: ["Retry-After": "1"])

  static let tooManyFromAddress = Problem(
    .tooManyConnections,
    detail:
      "Your address has reached the maximum number of connections, concurrent requests or bytes of unfinished ones.",
    remedy: "Close connections, or use them for several requests.", headers: ["Retry-After": "1"])

  static let tooManyOfCredential = Problem(
    .tooManyRequests, detail: "Your API key or user has reached the maximum number of concurrent requests.",
    remedy: "Wait until other requests have ended.", headers: ["Retry-After": "1"])

  static let tooManyStreams = Problem(
    .overloaded, detail: "The server has reached its maximum number of event streams.",
    remedy: "Try again in a moment, or poll the state instead.", headers: ["Retry-After": "5"])

  static func internalError(_ id: RequestID) -> Problem {
    Problem(
      .internalError, detail: "The server failed unexpectedly.",
      remedy: "Report the request id \(id); the server's log has the details.")
  }
}

extension BodyError {
  /// The problem of a request whose body cannot be read.
  package var problem: Problem {
    switch self {
    case .tooLarge(let limit): .bodyTooLarge(limit: limit)
    case .deadlineExceeded: .tooSlow
    case .disconnected: .incompleteBody
    case .cancelled: .stopping
    }
  }
}
