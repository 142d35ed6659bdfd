/// An answer that says what went wrong, for programs and people (RFC 9457).
package struct Problem: Error, Sendable, Hashable {
  package var status: Status
  /// The URI reference that names the kind of problem; `about:blank` when the status says it all.
  package var type: String
  package var title: String
  /// What happened this time.
  package var detail: String
  /// Further members of the object, in order.
  package var members: [Member]
  package var headers: HeaderFields

  /// One further member.
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

  /// The answer itself.
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
