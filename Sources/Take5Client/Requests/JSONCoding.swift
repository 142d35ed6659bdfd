import Foundation

/// JSON as the service writes it: times in RFC 3339.
enum JSONCoding {
  static func data(_ value: JSONValue) -> Data {
    // Texts, finite numbers and names can always be written.
    do { return try JSONEncoder().encode(value) } catch { return Data("null".utf8) }
  }

  static func value<Value: Decodable>(_ data: Data) throws(Take5Error) -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      guard let date = date(try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time of RFC 3339")
      }
      return date
    }
    do { return try decoder.decode(Value.self, from: data) } catch {
      throw .unreadable("\(Value.self) was expected")
    }
  }

  static func date(_ text: String) -> Date? {
    for style in [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()] {
      do { return try style.parse(text) } catch { continue }
    }
    return nil
  }

  static func text(_ date: Date) -> String { Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date) }
}
