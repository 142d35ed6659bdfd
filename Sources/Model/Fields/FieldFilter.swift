/// The conditions of a list on the searchable fields of its records.
package struct FieldFilter: Sendable, Hashable {
  /// What a condition demands of a field.
  package enum Condition: Sendable, Hashable {
    case equal(FieldValue)
    /// Values from the first one on, which are less than the second one; nil: without this end.
    case within(from: FieldValue?, to: FieldValue?)
  }

  /// The values that fields must have, as a JSON object; nil: none.
  package let values: String?
  /// The ranges that fields must be in, as a path of SQL/JSON (ISO 9075); nil: none.
  package let ranges: String?

  /// Nil without conditions.
  package init?(_ conditions: [String: Condition]) throws {
    guard !conditions.isEmpty else { return nil }
    var values: [String: FieldValue] = [:]
    var ranges: [String] = []
    for (name, condition) in conditions.sorted(by: { $0.key < $1.key }) {
      switch condition {
      case .equal(let value): values[name] = value
      case .within(let from, let to):
        // Times have one form and one zone, so that texts compare as they do. A JSON string is also one of the path.
        if let from { ranges.append("$.\"\(name)\" >= \(try JSON.text(from))") }
        if let to { ranges.append("$.\"\(name)\" < \(try JSON.text(to))") }
      }
    }
    self.values = values.isEmpty ? nil : try JSON.text(values)
    self.ranges = ranges.isEmpty ? nil : ranges.joined(separator: " && ")
  }
}
