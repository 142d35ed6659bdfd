import FoundationEssentials
package import HTTPServer
package import Model

/// Reads the parameters of a query and collects the errors, including those for unknown and repeated parameters.
package struct QueryReader: FilterReader {
  private var values: [String: [String]]
  /// Whether a name is longer than that of any parameter.
  private var hasLongName = false
  private(set) var errors: [FieldError] = []

  package init(_ target: RequestTarget) {
    values = [:]
    for item in target.query {
      if item.name.utf8.count > JSONReader.maxNameBytes {
        hasLongName = true
      } else {
        values[item.name, default: []].append(item.value)
      }
    }
  }

  /// Reads a text of 1 to `limit` characters.
  package mutating func text(_ name: String, limit: Int = MaxLength.name, isRequired: Bool = false) -> String? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    return !value.isEmpty && value.has(atMost: limit) ? value : refuse(name, "expected 1 to \(limit) characters")
  }

  /// Reads up to 100 texts of 1 to `limit` characters from a repeated parameter, each once and in order; empty if the parameter is absent.
  package mutating func texts(_ name: String, limit: Int = MaxLength.name) -> [String] {
    guard let texts = values.removeValue(forKey: name) else { return [] }
    if texts.count > 100 || !texts.allSatisfy({ !$0.isEmpty && $0.has(atMost: limit) }) {
      errors.append(FieldError(name, "expected up to 100 values of 1 to \(limit) characters"))
    }
    return Self.distinct(texts)
  }

  /// The texts whose bytes differ: a Set has one of two that are canonically equivalent, which are two ids.
  static func distinct(_ texts: [String]) -> [String] {
    Set(texts.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  /// Reads a value of an enumeration.
  package mutating func choice<Value: RawRepresentable<String> & CaseIterable>(_ name: String, of type: Value.Type)
    -> Value?
  {
    guard let value = take(name) else { return nil }
    return Value(named: value) ?? refuse(name, Self.expected(type))
  }

  /// Reads values of an enumeration from a repeated parameter; empty if the parameter is absent.
  package mutating func choices<Value: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Value.Type
  ) -> Set<Value> {
    choices(name, of: type, separator: nil)
  }

  /// Reads values of an enumeration from a repeated parameter; empty if the parameter is absent.
  ///
  /// - Parameter separator: what also separates values.
  mutating func choices<Value: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Value.Type, separator: Unicode.Scalar?
  ) -> Set<Value> {
    guard var texts = values.removeValue(forKey: name) else { return [] }
    // A value names what few have: who repeats it a hundred times wants its cost.
    guard texts.count <= 100 else {
      errors.append(FieldError(name, Self.expected(type)))
      return []
    }
    if let separator {
      texts = texts.flatMap { text in
        text.unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map { String($0) }
      }
    }
    let found = texts.map { Value(named: $0) }
    if found.contains(nil) { errors.append(FieldError(name, Self.expected(type))) }
    return Set(found.compactMap(\.self))
  }

  /// Reads an integer within a range.
  package mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = take(name) else { return nil }
    // Digits only: Int also accepts a sign.
    guard value.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(value), range.contains(number) else {
      return refuse(name, "expected an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads a time (RFC 3339); returns microseconds since 1970-01-01 UTC.
  package mutating func time(_ name: String) -> Int64? {
    guard let value = take(name) else { return nil }
    guard let date = JSON.date(from: value), FieldReader.times.contains(date) else {
      return refuse(name, "expected a time such as 2026-11-20T18:30:00Z (RFC 3339)")
    }
    return date.microseconds
  }

  /// Reads an id.
  package mutating func id(_ name: String, _ expected: String) -> PublicID? {
    guard let value = take(name) else { return nil }
    return PublicID(value) ?? refuse(name, "expected \(expected)")
  }

  /// Reads up to 100 ids from a repeated parameter; empty if the parameter is absent.
  package mutating func ids(_ name: String) -> [PublicID] {
    guard let texts = values.removeValue(forKey: name) else { return [] }
    let found = texts.compactMap { PublicID($0) }
    if found.count < texts.count || texts.count > 100 { errors.append(FieldError(name, "expected up to 100 UUIDs")) }
    return found
  }

  package func has(_ name: String) -> Bool { values[name] != nil }

  package mutating func name(_ name: String) -> String? { text(name) }

  package mutating func names(_ name: String) -> [String] { texts(name) }

  package mutating func microseconds(_ name: String) -> Int64? { time(name) }

  package mutating func whole(_ name: String, in range: ClosedRange<Int>) -> Int? { number(name, in: range) }

  package mutating func flag(_ name: String) -> Bool {
    guard let value = take(name) else { return false }
    return Bool(value) ?? refuse(name, "expected true or false") ?? false
  }

  package mutating func decimals(_ name: String, count: Int, _ expected: String) -> [Double]? {
    guard let value = list(name, count: count) else { return nil }
    return Self.numbers(value, count: count) ?? refuse(name, "expected \(expected)")
  }

  /// Reads a list with commas; also repeated parameters, as generated clients send lists.
  private mutating func list(_ name: String, count: Int) -> String? {
    if let parts = values[name], parts.count == count { values[name] = [parts.joined(separator: ",")] }
    return take(name)
  }

  /// The maximum length of a number with its comma: twice the digits of a double.
  private static let maxNumberBytes = 48

  private static func numbers(_ text: String, count: Int) -> [Double]? {
    // Decimal only: Double also accepts hexadecimal digits, `nan` and `inf`.
    guard text.utf8.count <= count * maxNumberBytes, text.utf8.allSatisfy("0123456789+-.eE,".utf8.contains) else {
      return nil
    }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
    return numbers.count == count && text.utf8.count(where: { $0 == UInt8(ascii: ",") }) == count - 1 ? numbers : nil
  }

  /// Reads a required value with a closure, which returns nil for an invalid value.
  package mutating func value<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) -> Value? {
    guard let text = take(name, isRequired: true) else { return nil }
    return read(text) ?? refuse(name, "expected \(expected)")
  }

  /// Throws a problem that names every parameter, but for one with a name.
  static func requireNone(_ target: RequestTarget, but name: String? = nil) throws(Problem) {
    var reader = QueryReader(target)
    if let name { reader.values[name] = nil }
    try reader.finish()
  }

  /// Throws a problem that names every invalid or unknown parameter.
  package mutating func finish() throws(Problem) {
    errors += FieldError.unknown(values.keys, \.self, in: "query")
    if hasLongName { errors.append(FieldError("query", "has a name of more than \(JSONReader.maxNameBytes) bytes")) }
    values = [:]
    try Self.check(errors)
  }

  private static func check(_ errors: [FieldError]) throws(Problem) {
    guard !errors.isEmpty else { return }
    throw ProblemKind.invalidQuery.problem(
      errors.map { "\($0.field) \($0.detail)" }.joined(separator: "; ") + ".", errors: errors)
  }

  private mutating func take(_ name: String, isRequired: Bool = false) -> String? {
    guard let found = values.removeValue(forKey: name), let first = found.first else {
      if isRequired { errors.append(FieldError(name, "is required")) }
      return nil
    }
    return found.count == 1 ? first : refuse(name, "is repeated")
  }

  package mutating func refuse(_ name: String, _ detail: String) { errors.append(FieldError(name, detail)) }

  /// Refuses a value; returns nil.
  mutating func refuse<Value>(_ name: String, _ detail: String) -> Value? {
    refuse(name, detail) as Void
    return nil
  }

  private static func expected<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> String {
    "expected one of " + Value.allCases.map(\.rawValue).joined(separator: ", ")
  }
}
