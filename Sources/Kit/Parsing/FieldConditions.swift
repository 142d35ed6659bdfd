package import Model

extension FieldDefinition {
  /// Whether lists can be filtered by a range of its values.
  fileprivate var hasOrder: Bool { [.number, .date, .time].contains(type) }

  /// Reads a value from the text of a parameter; nil if it is not of the type.
  fileprivate func value(parameter text: String) -> FieldValue? {
    switch type {
    case .text, .date, .time, .choice: value(JSONValue.string(text))
    case .number:
      // Decimal only: Double also accepts hexadecimal digits, `nan` and `inf`.
      text.utf8.allSatisfy("0123456789+-.eE".utf8.contains) ? Double(text).flatMap { value(JSONValue.number($0)) } : nil
    case .boolean: Bool(text).map(FieldValue.boolean)
    }
  }
}

extension QueryReader {
  /// Reads the parameters `field.NAME`, `field.NAME.from` and `field.NAME.to` of searchable fields.
  package mutating func fieldConditions(_ definitions: [String: FieldDefinition]) -> [String: FieldFilter.Condition] {
    var conditions: [String: FieldFilter.Condition] = [:]
    for (name, field) in definitions where field.searchable {
      func value(_ parameter: String) -> FieldValue? {
        text(parameter, limit: FieldDefinition.maxText).flatMap {
          field.value(parameter: $0) ?? refuse(parameter, field.expected)
        }
      }
      let parameter = "field.\(name)"
      if let value = value(parameter) { conditions[name] = .equal(value) }
      guard field.hasOrder else { continue }
      let (from, to) = (value("\(parameter).from"), value("\(parameter).to"))
      if from == nil && to == nil { continue }
      if conditions[name] == nil {
        conditions[name] = .within(from: from, to: to)
      } else {
        let _: FieldValue? = refuse(parameter, "does not go with a range")
      }
    }
    return conditions
  }
}

extension FieldReader {
  /// Reads the member `fields` of a search: by name a value, or an object with `from` and `to`.
  package mutating func fieldConditions(_ definitions: [String: FieldDefinition]) -> [String: FieldFilter.Condition] {
    var conditions: [String: FieldFilter.Condition] = [:]
    _ = object("fields") { reader in
      for (name, field) in definitions where field.searchable {
        let hasRange = reader.isObject(name)
        if hasRange && field.hasOrder {
          conditions[name] = reader.object(name) { range in
            .within(
              from: range.value("from", field.expected, field.value), to: range.value("to", field.expected, field.value)
            )
          }
        } else if let value = reader.value(name, field.expected, field.value) {
          conditions[name] = .equal(value)
        }
      }
      return true
    }
    return conditions
  }
}

extension FieldFilter {
  /// The conditions of a statement on the column `fields`, each with its parameter, whose place is `$`.
  package var conditions: [(text: String, parameter: String)] {
    let equal = values.map { (text: "fields <> '{}' AND fields @> $::jsonb", parameter: $0) }
    let within = ranges.map { (text: "fields <> '{}' AND fields @@ $::jsonpath", parameter: $0) }
    return [equal, within].compactMap(\.self)
  }
}
