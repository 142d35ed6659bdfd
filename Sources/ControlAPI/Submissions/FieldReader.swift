import FoundationEssentials
internal import Model

/// Reads the fields of a JSON object and collects what is wrong with them, unknown ones included.
struct FieldReader {
  /// From the year 1 to the year 9999.
  static let times = Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

  private let path: String
  private var fields: [String: JSONValue]
  private(set) var errors: [FieldError] = []

  /// - Parameter path: of the object itself, as errors name it; empty: a body that is nothing else.
  init(_ fields: [String: JSONValue], path: String) {
    self.fields = fields
    self.path = path
  }

  /// Text of at least one character and at most `limit`; nil when it is absent, null or wrong.
  mutating func text(_ name: String, limit: Int, isRequired: Bool = false, mayBeEmpty: Bool = true) -> String? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    guard case .string(let text) = value else { return refuse(name, "expected a string") }
    if text.isEmpty && !mayBeEmpty { return refuse(name, "must not be empty") }
    if text.unicodeScalars.count > limit { return refuse(name, "longer than \(limit) characters") }
    // PostgreSQL's text cannot hold it.
    if text.unicodeScalars.contains("\0") { return refuse(name, "contains the character U+0000") }
    return text
  }

  /// One of the values of an enumeration.
  mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Value.Type, isRequired: Bool = false
  ) -> Value? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    if case .string(let text) = value, let choice = Value(rawValue: text) { return choice }
    return refuse(name, "expected one of " + Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
  }

  /// A whole number within a range.
  mutating func whole(_ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let value = take(name) else { return nil }
    guard case .number(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
      return refuse(name, "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return whole
  }

  /// A value by a rule of its own.
  mutating func value<Value>(
    _ name: String, _ expected: String, isRequired: Bool = false, _ read: (JSONValue) -> Value?
  ) -> Value? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    return read(value) ?? refuse(name, expected)
  }

  /// A number within a range.
  mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
    guard let value = take(name, isRequired: true) else { return nil }
    guard case .number(let number) = value, range.contains(number) else {
      return refuse(name, "expected a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  /// A time (RFC 3339, whose years have four digits: further ones fit neither the database nor its microseconds).
  mutating func time(_ name: String) -> Date? {
    guard let value = take(name) else { return nil }
    if case .string(let text) = value, let date = JSON.date(from: text), Self.times.contains(date) { return date }
    return refuse(name, "expected a time such as \"2026-11-20T18:30:00Z\" (RFC 3339)")
  }

  /// An object within this one, read by `body`.
  mutating func object<Value>(_ name: String, _ body: (inout FieldReader) -> Value?) -> Value? {
    guard let value = take(name) else { return nil }
    guard case .object(let fields) = value else { return refuse(name, "expected an object") }
    var reader = FieldReader(fields, path: full(name))
    let result = body(&reader)
    errors += reader.finish()
    return result
  }

  /// All errors, unknown fields among them.
  mutating func finish() -> [FieldError] {
    for name in fields.keys.sorted() { errors.append(FieldError(full(name), "is not known here; remove it")) }
    fields = [:]
    return errors
  }

  private func full(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  private mutating func take(_ name: String, isRequired: Bool = false) -> JSONValue? {
    let value = fields.removeValue(forKey: name)
    if let value, value != .null { return value }
    if isRequired { errors.append(FieldError(full(name), "is required")) }
    return nil
  }

  private mutating func refuse<Value>(_ name: String, _ detail: String) -> Value? {
    errors.append(FieldError(full(name), detail))
    return nil
  }
}
