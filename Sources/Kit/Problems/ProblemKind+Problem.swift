package import HTTPServer

extension ProblemKind {
  /// The problem type URI.
  package var type: String { ServerProblem.namespace + rawValue }

  /// The status code of the response.
  package var status: Status { row.status }

  /// Returns a problem of this kind, with `errors` as a member if there are any.
  package func problem(
    _ detail: String, errors: [FieldError] = [], members: [Problem.Member] = [], headers: HeaderFields = [:]
  ) -> Problem {
    var members = members
    if !errors.isEmpty { members.append(.init(name: "errors", value: .list(errors.map(\.problemValue)))) }
    return Problem(
      row.status, type: type, title: row.title, detail: detail, remedy: row.remedy, members: members, headers: headers)
  }
}
