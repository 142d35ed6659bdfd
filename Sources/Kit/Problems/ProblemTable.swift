package import HTTPServer

/// A table of kinds of problems (RFC 9457) that the API returns, besides those of the server. The raw values are part of the API and do not change.
///
/// docs/problems.md lists them.
package protocol ProblemTable: RawRepresentable<String>, CaseIterable, Sendable {
  /// The status, the title and the remedy of each kind.
  var row: (status: Status, title: String, remedy: String) { get }
}

extension ProblemTable {
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
