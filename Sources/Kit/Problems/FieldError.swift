package import HTTPServer
package import Model

/// The error of one field, part or parameter of a request.
package struct FieldError: Error, Sendable, Hashable {
  /// The path of the field, such as `front` or `post.place.coordinate.latitude`.
  package let field: String
  /// The error and the expected value.
  package let detail: String

  package init(_ field: String, _ detail: String) {
    self.field = field
    self.detail = detail
  }

  /// The maximum number of unknown fields that an answer names; more of them are counted.
  private static let maxUnknown = 100

  /// Returns an error for each unknown field, by name, or one for more of them than a reader wants.
  ///
  /// - Parameter path: what has the fields.
  static func unknown(_ names: some Collection<String>, _ full: (String) -> String, in path: String) -> [FieldError] {
    guard names.count <= maxUnknown else { return [FieldError(path, "has \(names.count) unknown fields; remove them")] }
    return names.sorted().map { FieldError(full($0), "is unknown; remove it") }
  }

  var problemValue: ProblemValue {
    .object([.init(name: "field", value: .string(field)), .init(name: "detail", value: .string(detail))])
  }
}

extension Reason {
  /// The reason with the same keys as in a verdict.
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
  /// Returns a problem of this kind with the reasons of a verdict as the member `reasons`.
  package func problem(_ detail: String, reasons: [Reason]) -> Problem {
    problem(
      detail, errors: reasons.compactMap { reason in reason.input.map { FieldError($0.rawValue, reason.detail) } },
      members: [.init(name: "reasons", value: .list(reasons.map(\.problemValue)))])
  }

  /// Returns a problem that names the invalid fields of a body.
  package static func invalid(_ errors: [FieldError]) -> Problem {
    invalidFields.problem(
      "\(errors.count == 1 ? "One field is" : "\(errors.count) fields are") invalid: "
        + errors.map { "\($0.field) \($0.detail)" }.joined(separator: "; ") + ".", errors: errors)
  }
}
