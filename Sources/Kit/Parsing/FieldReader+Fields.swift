import FoundationEssentials
package import Model

/// The fields that a definition names.
extension FieldReader {
  /// Reads the member `fields` of a record.
  ///
  /// - Parameters:
  ///   - body: the members of the object that is read.
  ///   - isWhole: whether the record has no other fields then, so that those that are required must be there; otherwise it is a merge
  ///     patch (RFC 7396).
  package mutating func fieldChange(
    by definitions: [String: FieldDefinition], among body: [String: JSONValue], isWhole: Bool
  ) -> FieldChange {
    let member = body["fields", default: .null]
    let replacesAll = isWhole || body["fields"] == .null
    guard case .object(let given) = member else {
      if replacesAll && member == .null {
        for (name, field) in Self.sorted(definitions) where field.required { refuse("fields.\(name)", "is required") }
      }
      _ = object("fields") { _ in false }
      return FieldChange([:], replacesAll: replacesAll)
    }
    var change = FieldChange([:], replacesAll: isWhole)
    _ = object("fields") { reader in
      change.values = reader.values(of: definitions, isWhole: isWhole)
      for (name, field) in Self.sorted(definitions) where !isWhole && given[name] == .null {
        if field.required { reader.refuse(name, "is required") }
        change.values.updateValue(nil, forKey: name)
      }
      return true
    }
    return change
  }

  /// Reads the members that a definition names.
  package mutating func values(of definitions: [String: FieldDefinition], isWhole: Bool = true) -> [String: FieldValue?]
  {
    var values: [String: FieldValue?] = [:]
    for (name, field) in Self.sorted(definitions) {
      let isRequired = isWhole && field.required
      if let value = value(name, field.expected, isRequired: isRequired, field.value) { values[name] = value }
    }
    return values
  }

  /// The fields in an order in which their errors are always the same.
  private static func sorted(_ fields: [String: FieldDefinition]) -> [(key: String, value: FieldDefinition)] {
    fields.sorted { $0.key < $1.key }
  }
}

extension FieldDefinition {
  /// What a value must be.
  var expected: String {
    switch type {
    case .text: "expected a text of up to \(max ?? Self.maxText) characters"
    case .number: "expected a number"
    case .date: "expected a date such as \"2026-11-20\""
    case .time: "expected a time such as \"2026-11-20T18:30:00Z\" (RFC 3339)"
    case .choice: "expected one of " + (choices ?? []).map { "\"\($0)\"" }.joined(separator: ", ")
    case .boolean: "expected true or false"
    }
  }

  /// Reads a value; nil if it is not of the type.
  func value(_ value: JSONValue) -> FieldValue? {
    switch (type, value) {
    case (.text, .string(let text)):
      text.has(atMost: max ?? Self.maxText) && !text.unicodeScalars.contains("\0") ? .text(text) : nil
    case (.number, .number(let number)): number.isFinite ? .number(number) : nil
    case (.date, .string(let text)): FieldReader.isDate(text) ? .text(text) : nil
    case (.time, .string(let text)):
      JSON.date(from: text).flatMap { FieldReader.times.contains($0) ? .text(JSON.text(of: $0)) : nil }
    case (.choice, .string(let text)):
      choices?.contains { $0.utf8.elementsEqual(text.utf8) } == true ? .text(text) : nil
    case (.boolean, .boolean(let flag)): .boolean(flag)
    default: nil
    }
  }
}

extension FieldReader {
  /// Whether a text is a date of the years 1900 to 9999 (RFC 3339, full-date).
  package static func isDate(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), 1900...9999 ~= year, 1...12 ~= month
    else { return false }
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return 1...days[month - 1] ~= day
  }
}
