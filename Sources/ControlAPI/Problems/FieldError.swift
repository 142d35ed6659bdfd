internal import HTTPServer

/// What is wrong with one field of a submission.
package struct FieldError: Error, Sendable, Hashable {
  /// Its path: `front`, `post.place.coordinate.latitude`.
  package let field: String
  /// What is wrong and what would be right.
  package let detail: String

  package init(_ field: String, _ detail: String) {
    self.field = field
    self.detail = detail
  }

  var value: ProblemValue {
    .object([.init(name: "field", value: .string(field)), .init(name: "detail", value: .string(detail))])
  }
}
