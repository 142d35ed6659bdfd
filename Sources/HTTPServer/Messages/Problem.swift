/// An error response for programs and people (RFC 9457).
package struct Problem: Error, Sendable, Hashable {
  package var status: Status
  /// The URI reference of the problem type; `about:blank` if the status alone describes the problem.
  package var type: String
  package var title: String
  /// The explanation of this occurrence.
  package var detail: String
  /// Extension members of the object, in order.
  package var members: [Member]
  package var headers: HeaderFields
  /// What failed in an outage, for the operator; the client does not get it.
  package var cause: String?

  /// One extension member.
  package struct Member: Sendable, Hashable {
    package let name: String
    package let value: ProblemValue

    package init(name: String, value: ProblemValue) {
      self.name = name
      self.value = value
    }
  }

  package init(
    _ status: Status, type: String = "about:blank", title: String? = nil, detail: String, remedy: String? = nil,
    members: [Member] = [], headers: HeaderFields = [:]
  ) {
    self.status = status
    self.type = type
    self.title = title ?? status.phrase
    self.detail = detail
    self.members = (remedy.map { [Member(name: "remedy", value: .string($0))] } ?? []) + members
    self.headers = headers
  }

  /// The problem as a response.
  package var response: Response {
    let standard = [
      Member(name: "type", value: .string(type)), Member(name: "title", value: .string(title)),
      Member(name: "status", value: .integer(Int64(status.code))), Member(name: "detail", value: .string(detail)),
    ]
    var text = ProblemValue.object(standard + members).json
    text.append(UInt8(ascii: "\n"))
    var headers = headers
    headers["Content-Type"] = "application/problem+json"
    return Response(status, headers: headers, body: .bytes(text))
  }
}

/// The problems that the server itself reports, independent of the routes.
extension Problem {
  static func malformedRequest(_ detail: String) -> Problem {
    Problem(.badRequest, detail: detail, remedy: "Send the request as RFC 9112 describes it.")
  }

  static func bodyTooLarge(limit: Int64) -> Problem {
    Problem(
      .contentTooLarge, detail: "The request body is longer than the \(limit) bytes that this route accepts.",
      remedy: "Send at most \(limit) bytes.")
  }

  static let tooSlow = Problem(
    .requestTimeout, detail: "The request took longer than the server allows.", remedy: "Send it again.")

  static let incompleteBody = Problem(
    .badRequest, detail: "The connection was closed before the body was complete.", remedy: "Send the complete body.")

  static let stopping = Problem(
    .serviceUnavailable, detail: "The server is stopping.", remedy: "Send the request again in a moment.",
    headers: ["Retry-After": "1"])

  static let tooManyConnections = Problem(
    .serviceUnavailable, detail: "The server has reached its maximum number of connections.",
    remedy: "Try again in a moment.", headers: ["Retry-After": "1"])

  static let tooManyFromAddress = Problem(
    .tooManyRequests, detail: "Your address has reached the maximum number of connections or concurrent requests.",
    remedy: "Close connections, or use them for several requests.", headers: ["Retry-After": "1"])

  static let tooManyOfCredential = Problem(
    .tooManyRequests, detail: "Your API key or user has reached the maximum number of concurrent requests.",
    remedy: "Wait until other requests have ended.", headers: ["Retry-After": "1"])

  static let tooManyStreams = Problem(
    .serviceUnavailable, detail: "The server has reached its maximum number of event streams.",
    remedy: "Try again in a moment, or poll the state instead.", headers: ["Retry-After": "5"])

  static func internalError(_ id: RequestID) -> Problem {
    Problem(
      .internalServerError, detail: "The server failed unexpectedly.",
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

/// The value of a problem's member, which encodes itself as JSON (RFC 8259).
package indirect enum ProblemValue: Sendable, Hashable {
  case string(String)
  case integer(Int64)
  case list([ProblemValue])
  case object([Problem.Member])

  /// The JSON text, in UTF-8.
  var json: [UInt8] {
    var text: [UInt8] = []
    write(to: &text)
    return text
  }

  private func write(to text: inout [UInt8]) {
    switch self {
    case .string(let string): Self.write(string, to: &text)
    case .integer(let integer): text += String(integer).utf8
    case .list(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        value.write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &text)
        text.append(UInt8(ascii: ":"))
        member.value.write(to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: text += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
