package import FoundationEssentials

/// The one JSON dialect of the service: snake_case keys in a fixed order, times as RFC 3339 with milliseconds.
package enum JSON {
  /// The bytes of a value, without line breaks unless `pretty`.
  package static func encode(_ value: some Encodable, pretty: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(text(of: date))
    }
    return withoutNUL(Array(try encoder.encode(value)))
  }

  /// The same JSON with U+FFFD for each NUL in a string: text from a file may hold one, and PostgreSQL's jsonb none.
  private static func withoutNUL(_ json: [UInt8]) -> [UInt8] {
    guard var place = json.firstIndex(of: UInt8(ascii: "\\")) else { return json }
    let escape = Array("\\u0000".utf8)
    var json = json
    while place < json.count {
      guard json[place] == UInt8(ascii: "\\") else {
        place += 1
        continue
      }
      // An escape is taken as a whole: behind an escaped backslash the same letters mean themselves.
      if json[place...].starts(with: escape) { json.replaceSubrange(place + 2..<place + 6, with: "fffd".utf8) }
      place += 2
    }
    return json
  }

  /// The text of a value.
  package static func text(_ value: some Encodable, pretty: Bool = false) throws -> String {
    String(decoding: try encode(value, pretty: pretty), as: UTF8.self)
  }

  /// Reads a value; throws a `DecodingError` that names the path of what is wrong.
  package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      guard let date = date(from: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
      }
      return date
    }
    return try decoder.decode(type, from: Data(bytes))
  }

  /// A time as RFC 3339 in UTC, to the millisecond.
  package static func text(of date: Date) -> String {
    RFC3339.text(of: date)
  }

  /// Reads an RFC 3339 time, with or without fractions of a second.
  package static func date(from text: String) -> Date? {
    RFC3339.date(from: text)
  }
}
