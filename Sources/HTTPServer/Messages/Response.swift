internal import Platform

/// An answer: a status, header fields and a body.
package struct Response: Sendable {
  package var status: Status
  /// Content-Length, Date and the request id are added when it is sent.
  package var headers: HeaderFields
  package var body: ResponseBody

  package init(_ status: Status, headers: HeaderFields = [:], body: ResponseBody = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer of JSON text.
  package static func json(_ status: Status, _ text: [UInt8], headers: HeaderFields = [:]) -> Response {
    var headers = headers
    headers["Content-Type"] = "application/json"
    return Response(status, headers: headers, body: .bytes(text))
  }
}
