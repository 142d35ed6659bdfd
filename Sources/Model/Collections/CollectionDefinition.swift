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
    package var fields: [String: FieldDefinition]
  }

  /// The name of the kind.
  package var name: String
  package var version: Int
  /// What is said of a collection, by name.
  package var fields: [String: FieldDefinition]
  /// Dates among the fields, each of which must not be before the preceding one here.
  package var order: [String]
  package var items: Items
  /// Whether a user becomes a member only by accepting an invitation.
  package var consent: Bool

  /// The maximum number of items that a definition may allow.
  package static let maxItems = 500

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    fields = try container.decode([String: FieldDefinition].self, forKey: .fields)
    order = try container.decodeIfPresent([String].self, forKey: .order) ?? []
    items = try container.decode(Items.self, forKey: .items)
    consent = try container.decodeIfPresent(Bool.self, forKey: .consent) ?? false
    func require(_ isValid: Bool, _ key: CodingKeys, _ expected: String) throws {
      guard isValid else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: expected)
      }
    }
    try require(
      FieldDefinition.isName(name), .name, "expected 1 to 40 lower-case ASCII letters, digits and underscores")
    for (key, fields) in [(CodingKeys.fields, fields), (.items, items.fields)] {
      try require(FieldDefinition.areValid(fields), key, FieldDefinition.expectedFields)
    }
    try require(
      items.fields.keys.allSatisfy { CollectionDefinition.ItemKind(rawValue: $0) == nil }, .items,
      "the fields of an item must not be named place or post")
    try require(1...Self.maxItems ~= items.max, .items, "expected a max from 1 to \(Self.maxItems)")
    try require(order.allSatisfy { fields[$0]?.type == .date }, .order, "expected names of fields that are dates")
  }

  /// The first date that is before the one that must precede it; nil: there is none.
  package func misplacedDate(in values: [String: FieldValue]) -> (field: String, before: String)? {
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
