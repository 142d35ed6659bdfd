/// A field that a definition names: of a post, a user, a collection or an item of one.
package struct FieldDefinition: Codable, Sendable, Hashable {
  package enum ValueType: String, NamedCases, Sendable {
    case text
    case number
    /// Such as `2026-11-20`.
    case date
    /// Such as `2026-11-20T18:30:00Z`.
    case time
    /// One of the texts in `choices`.
    case choice
    case boolean
  }

  package var type: ValueType
  /// The maximum number of characters of a text.
  package var max: Int?
  /// What the value of a choice is one of.
  package var choices: [String]?
  /// Whether it must have a value.
  package var required: Bool
  /// Whether lists can be filtered by it.
  package var searchable: Bool

  /// The maximum number of characters of a text without `max`.
  package static let maxText = 5000
  /// The maximum number of choices, and of the characters of each.
  private static let maxChoices = (count: 100, length: 200)
  private static let maxFields = 40

  package init(
    type: ValueType, max: Int? = nil, choices: [String]? = nil, required: Bool = false, searchable: Bool = false
  ) {
    self.type = type
    self.max = max
    self.choices = choices
    self.required = required
    self.searchable = searchable
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    type = try container.decode(ValueType.self, forKey: .type)
    max = try container.decodeIfPresent(Int.self, forKey: .max)
    choices = try container.decodeIfPresent([String].self, forKey: .choices)
    required = try container.decodeIfPresent(Bool.self, forKey: .required) ?? false
    searchable = try container.decodeIfPresent(Bool.self, forKey: .searchable) ?? false
    guard max.map({ 1...Self.maxText ~= $0 && type == .text }) ?? true else {
      throw DecodingError.dataCorruptedError(
        forKey: .max, in: container, debugDescription: "expected 1 to \(Self.maxText), of a text")
    }
    guard (choices != nil) == (type == .choice), choices.map(Self.areChoices) ?? true else {
      throw DecodingError.dataCorruptedError(
        forKey: .choices, in: container,
        debugDescription: "expected 1 to \(Self.maxChoices.count) different texts of 1 to \(Self.maxChoices.length) "
          + "characters, of a choice")
    }
  }

  private static func areChoices(_ texts: [String]) -> Bool {
    1...maxChoices.count ~= texts.count && Set(texts).count == texts.count
      && texts.allSatisfy { 1...maxChoices.length ~= $0.unicodeScalars.count && !$0.unicodeScalars.contains("\0") }
  }

  /// Whether a text can be the name of a field.
  static func isName(_ text: String) -> Bool {
    1...40 ~= text.utf8.count && text.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x5F }
  }

  /// Whether a record may have these fields.
  static func areValid(_ fields: [String: FieldDefinition]) -> Bool {
    fields.count <= maxFields && fields.keys.allSatisfy(isName)
  }

  static let expectedFields =
    "expected up to \(maxFields) fields, with names of lower-case ASCII letters, digits and underscores"
}

/// The value of a field.
package enum FieldValue: Codable, Sendable, Hashable {
  /// Also a date, a time in UTC with milliseconds, and a choice.
  case text(String)
  case number(Double)
  case boolean(Bool)

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Texts are the most frequent: each type that does not fit costs an error.
    if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else {
      self = .boolean(try container.decode(Bool.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .boolean(let flag): try container.encode(flag)
    }
  }
}

/// A change of the fields of a record.
package struct FieldChange: Sendable, Hashable {
  /// The values that are set, and nil for the removed ones.
  package var values: [String: FieldValue?]
  /// Whether what it does not name is removed; otherwise that stays.
  package var replacesAll: Bool

  /// The change that leaves everything as it is.
  package static let none = FieldChange([:])

  package init(_ values: [String: FieldValue?], replacesAll: Bool = false) {
    self.values = values
    self.replacesAll = replacesAll
  }

  /// Applies the change to the fields of a record; nil: there are none.
  package func applied(to fields: [String: FieldValue]?) -> [String: FieldValue]? {
    var changed = replacesAll ? [:] : fields ?? [:]
    for (name, value) in values { changed[name] = value }
    return changed.isEmpty ? nil : changed
  }
}
