import Platform

/// A response: a status, header fields and a body.
package struct Response: Sendable {
  package var status: Status
  /// The header fields; the server adds Content-Length, Date and the request id.
  package var headers: HeaderFields
  package var body: ResponseBody

  package init(_ status: Status, headers: HeaderFields = [:], body: ResponseBody = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Creates a response with a JSON body.
  package static func json(_ status: Status, _ text: [UInt8], headers: HeaderFields = [:]) -> Response {
    var headers = headers
    headers["Content-Type"] = "application/json"
    return Response(status, headers: headers, body: .bytes(text))
  }
}

/// The body of a response.
package enum ResponseBody: Sendable {
  case bytes([UInt8])
  /// A region of an open file, sent by the kernel without a copy in user space (sendfile(2)).
  case file(FileRegion)
  /// A stream, sent in chunks as they are written.
  case stream(BodyStream)

  /// The length in bytes; for a stream, the number of bytes sent so far.
  package var count: Int64 {
    switch self {
    case .bytes(let bytes): Int64(bytes.count)
    case .file(let region): region.count
    case .stream(let stream): stream.sentBytes
    }
  }

  /// The stream; nil for other bodies.
  var stream: BodyStream? {
    if case .stream(let stream) = self { stream } else { nil }
  }
}

/// A status code (RFC 9110, section 15).
package struct Status: Sendable, Hashable {
  package let code: Int
  /// The reason phrase.
  package let phrase: String

  package init(code: Int, phrase: String) { (self.code, self.phrase) = (code, phrase) }

  /// draft-ietf-httpbis-resumable-upload, section 5.
  package static let uploadResumptionSupported = Status(code: 104, phrase: "Upload Resumption Supported")
  package static let ok = Status(code: 200, phrase: "OK")
  package static let created = Status(code: 201, phrase: "Created")
  package static let accepted = Status(code: 202, phrase: "Accepted")
  package static let noContent = Status(code: 204, phrase: "No Content")
  package static let partialContent = Status(code: 206, phrase: "Partial Content")
  package static let notModified = Status(code: 304, phrase: "Not Modified")
  package static let temporaryRedirect = Status(code: 307, phrase: "Temporary Redirect")
  package static let badRequest = Status(code: 400, phrase: "Bad Request")
  package static let unauthorized = Status(code: 401, phrase: "Unauthorized")
  package static let forbidden = Status(code: 403, phrase: "Forbidden")
  package static let notFound = Status(code: 404, phrase: "Not Found")
  package static let methodNotAllowed = Status(code: 405, phrase: "Method Not Allowed")
  package static let requestTimeout = Status(code: 408, phrase: "Request Timeout")
  package static let conflict = Status(code: 409, phrase: "Conflict")
  package static let gone = Status(code: 410, phrase: "Gone")
  package static let preconditionFailed = Status(code: 412, phrase: "Precondition Failed")
  /// RFC 6585, section 3.
  package static let preconditionRequired = Status(code: 428, phrase: "Precondition Required")
  package static let contentTooLarge = Status(code: 413, phrase: "Content Too Large")
  package static let uriTooLong = Status(code: 414, phrase: "URI Too Long")
  package static let unsupportedMediaType = Status(code: 415, phrase: "Unsupported Media Type")
  package static let rangeNotSatisfiable = Status(code: 416, phrase: "Range Not Satisfiable")
  package static let expectationFailed = Status(code: 417, phrase: "Expectation Failed")
  package static let unprocessableContent = Status(code: 422, phrase: "Unprocessable Content")
  package static let tooManyRequests = Status(code: 429, phrase: "Too Many Requests")
  package static let headerFieldsTooLarge = Status(code: 431, phrase: "Request Header Fields Too Large")
  package static let internalServerError = Status(code: 500, phrase: "Internal Server Error")
  package static let serviceUnavailable = Status(code: 503, phrase: "Service Unavailable")
  package static let versionNotSupported = Status(code: 505, phrase: "HTTP Version Not Supported")
  package static let insufficientStorage = Status(code: 507, phrase: "Insufficient Storage")
}
