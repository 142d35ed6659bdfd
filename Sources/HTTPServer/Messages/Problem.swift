/// An error response for programs and people (RFC 9457).
package struct Problem: Error, Sendable, Hashable {
  package var status: Status
  /// The URI of the problem type. The server's own begin with `ServerProblem.namespace`.
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
    _ status: Status, type: String, title: String, detail: String, remedy: String? = nil, members: [Member] = [],
    headers: HeaderFields = [:]
  ) {
    self.status = status
    self.type = type
    self.title = title
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
