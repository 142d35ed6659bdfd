/// An enumeration that people write by its names in definitions: the error of an unknown name lists the known ones.
package protocol NamedCases: RawRepresentable<String>, CaseIterable, Codable {}

extension NamedCases {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let value = Self(rawValue: name) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: unknown(name, among: Array(Self.allCases)))
    }
    self = value
  }
}

extension KeyedDecodingContainer {
  /// Decodes an object whose keys are names; the error of an unknown key lists these.
  func decode<Name: RawRepresentable<String> & Hashable, Value: Decodable>(
    named names: [Name], forKey key: Key
  ) throws -> [Name: Value] {
    var values: [Name: Value] = [:]
    for (text, value) in try decode([String: Value].self, forKey: key) {
      guard let name = Name(rawValue: text), names.contains(name) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: self, debugDescription: unknown(text, among: names))
      }
      values[name] = value
    }
    return values
  }
}

private func unknown(_ name: String, among names: [some RawRepresentable<String>]) -> String {
  "'\(name)' is not one of \(names.map(\.rawValue).joined(separator: ", "))"
}
