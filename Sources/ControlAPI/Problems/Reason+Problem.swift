internal import HTTPServer
internal import Model

extension Reason {
  /// As a member of a problem; the same keys as in a verdict.
  var problemValue: ProblemValue {
    var members: [Problem.Member] = [.init(name: "code", value: .string(code.rawValue))]
    if let input { members.append(.init(name: "input", value: .string(input.rawValue))) }
    members.append(.init(name: "detail", value: .string(detail)))
    if let photo { members.append(.init(name: "photo", value: .integer(Int64(photo)))) }
    if let byteOffset { members.append(.init(name: "byte_offset", value: .integer(byteOffset))) }
    return .object(members)
  }
}

extension ProblemKind {
  /// A problem whose `reasons` are those of a verdict.
  func problem(_ detail: String, reasons: [Reason]) -> Problem {
    problem(
      detail, errors: reasons.compactMap { reason in reason.input.map { FieldError($0.rawValue, reason.detail) } },
      members: [.init(name: "reasons", value: .list(reasons.map(\.problemValue)))])
  }
}
