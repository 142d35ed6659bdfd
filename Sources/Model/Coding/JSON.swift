package import FoundationEssentials

/// The JSON encoding of the service: snake_case keys in a fixed order, times as RFC 3339 with milliseconds.
package enum JSON {
  /// Encodes a value as UTF-8, without line breaks unless `pretty`.
  package static func encode(_ value: some Encodable, pretty: Bool = false) throws -> [UInt8] {
    guard pretty else { return try JSONWriter.text(of: value) }
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(text(of: date))
    }
    return Array(try encoder.encode(value))
  }

  /// Encodes a value as a string.
  package static func text(_ value: some Encodable, pretty: Bool = false) throws -> String {
    String(decoding: try encode(value, pretty: pretty), as: UTF8.self)
  }

  /// Decodes a value; throws a `DecodingError` with the path of the error.
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

  /// Writes a time as RFC 3339 in UTC with milliseconds.
  package static func text(of date: Date) -> String {
    RFC3339.text(of: date)
  }

  /// Reads a time of RFC 3339, with or without fractions of a second.
  package static func date(from text: String) -> Date? {
    RFC3339.date(from: text)
  }
}

extension JSON {
  /// The message of a decoding error: the path as it appears in the JSON, and the error.
  package static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, let context): return "\(path(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context): return "\(path(context.codingPath)) is null"
    case .typeMismatch(let type, let context):
      return line(context.codingPath, "expected \(noun(of: type))\(found(context.debugDescription))")
    case .dataCorrupted(let context): return line(context.codingPath, context.debugDescription)
    @unknown default: return "\(error)"
    }
  }

  private static func line(_ keys: [any CodingKey], _ text: String) -> String {
    keys.isEmpty ? text : "\(path(keys)): \(text)"
  }

  // Foundation names types of Swift, which a person who writes JSON does not know.
  private static func noun(of type: Any.Type) -> String {
    switch type {
    case is Bool.Type: "true or false"
    case is String.Type: "a text"
    case is any BinaryInteger.Type: "an integer"
    case is any BinaryFloatingPoint.Type: "a number"
    default: "\(type)".hasPrefix("Array") ? "a list" : "\(type)".hasPrefix("Dictionary") ? "an object" : "another value"
    }
  }

  /// What Foundation has found in place of a type: `Expected to decode Int but found a string instead.`
  private static func found(_ text: String) -> String {
    guard let start = text.firstRange(of: " but found ")?.upperBound,
      let word = text[start...].split(separator: " ").dropLast().last
    else { return "" }
    let names = [
      "array": "a list", "dictionary": "an object", "string": "a text", "number": "a number", "bool": "true or false",
      "null": "null",
    ]
    return names[String(word)].map { ", not \($0)" } ?? ""
  }

  /// Where a decoding error is, as a path in the JSON; nil if it concerns the whole.
  package static func path(of error: any Error) -> String? {
    guard let error = error as? DecodingError else { return nil }
    let keys: [any CodingKey]
    switch error {
    case .keyNotFound(let key, let context): keys = context.codingPath + [key]
    case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
      keys = context.codingPath
    @unknown default: keys = []
    }
    return keys.isEmpty ? nil : path(keys)
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + snakeCase(key.stringValue)
      }
    }
  }

  // The decoder has converted the keys to camelCase (`convertFromSnakeCase`).
  private static func snakeCase(_ key: String) -> String {
    String(key.flatMap { $0.isUppercase ? "_" + $0.lowercased() : String($0) })
  }
}
