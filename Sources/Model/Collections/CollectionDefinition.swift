/// A JSON document in `jobs/` that says what a kind of collection consists of.
package struct CollectionDefinition: Codable, Sendable, Hashable {
  /// What the items of a collection are.
  package enum ItemKind: String, NamedCases, Sendable {
    case place
    case post
  }

  package struct Items: Codable, Sendable, Hashable {
    package var of: ItemKind
    /// The maximum number of items.
    package var max: Int
    /// What is said of an item, by name.
    package var fields: [String: CollectionField]
  }

  /// The name of the kind.
  package var name: String
  package var version: Int
  /// What is said of a collection, by name.
  package var fields: [String: CollectionField]
  /// Dates among the fields, of which none may be before the one that precedes it here.
  package var order: [String]
  package var items: Items

  /// The maximum number of items that a definition may allow.
  package static let maxItems = 500
  private static let maxFields = 40

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    fields = try container.decode([String: CollectionField].self, forKey: .fields)
    order = try container.decodeIfPresent([String].self, forKey: .order) ?? []
    items = try container.decode(Items.self, forKey: .items)
    func require(_ isValid: Bool, _ key: CodingKeys, _ expected: String) throws {
      guard isValid else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: expected)
      }
    }
    try require(Self.isName(name), .name, "expected 1 to 40 lower-case ASCII letters, digits and underscores")
    for (key, fields) in [(CodingKeys.fields, fields), (.items, items.fields)] {
      try require(
        fields.count <= Self.maxFields && fields.keys.allSatisfy(Self.isName), key,
        "expected up to \(Self.maxFields) fields, with names of lower-case ASCII letters, digits and underscores")
    }
    try require(
      items.fields.keys.allSatisfy { CollectionDefinition.ItemKind(rawValue: $0) == nil }, .items,
      "the fields of an item must not be named place or post")
    try require(1...Self.maxItems ~= items.max, .items, "expected a max from 1 to \(Self.maxItems)")
    try require(order.allSatisfy { fields[$0]?.type == .date }, .order, "expected names of fields that are dates")
  }

  private static func isName(_ text: String) -> Bool {
    1...40 ~= text.utf8.count && text.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x5F }
  }

  /// The first date that is before the one that must precede it; nil: there is none.
  package func misplacedDate(in values: [String: CollectionValue]) -> (field: String, before: String)? {
    // Dates of four-digit years are in the order of their texts.
    let dates = order.compactMap { name -> (name: String, date: String)? in
      guard case .text(let date)? = values[name] else { return nil }
      return (name, date)
    }
    for (former, date) in zip(dates, dates.dropFirst()) where date.date < former.date {
      return (date.name, former.name)
    }
    return nil
  }
}

/// A field of a collection or of an item.
package struct CollectionField: Codable, Sendable, Hashable {
  package enum ValueType: String, NamedCases, Sendable {
    case text
    case number
    /// Such as `2026-11-20`.
    case date
    case boolean
  }

  package var type: ValueType
  /// The maximum number of characters of a text.
  package var max: Int?

  /// The maximum number of characters of a text without `max`.
  package static let maxText = 5000

  package init(type: ValueType, max: Int? = nil) {
    self.type = type
    self.max = max
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    type = try container.decode(ValueType.self, forKey: .type)
    max = try container.decodeIfPresent(Int.self, forKey: .max)
    guard max.map({ 1...Self.maxText ~= $0 && type == .text }) ?? true else {
      throw DecodingError.dataCorruptedError(
        forKey: .max, in: container, debugDescription: "expected 1 to \(Self.maxText), of a text")
    }
  }
}

/// The value of a field.
package enum CollectionValue: Codable, Sendable, Hashable {
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
