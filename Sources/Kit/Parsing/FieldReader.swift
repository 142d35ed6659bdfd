package import FoundationEssentials
package import HTTPServer
internal import Model

/// The maximum lengths of texts, in characters.
package enum MaxLength {
  /// Of names, titles and ids that an app assigns.
  package static let name = 200
  /// Of captions and comments.
  package static let text = 5000
  /// Of alternative texts.
  package static let alternativeText = 1500
}

/// Reads the fields of a JSON object and collects the errors, including one for each unknown field.
package struct FieldReader {
  /// The valid times: the years 1 to 9999.
  static let times = Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

  private let path: String
  private var fields: [String: JSONValue]
  package private(set) var errors: [FieldError] = []

  /// - Parameter path: the path of the object in error messages; empty if the object is the body.
  package init(_ fields: [String: JSONValue], path: String) {
    self.fields = fields
    self.path = path
  }

  /// Reads a text of at most `limit` characters; returns nil if it is absent, null or invalid.
  package mutating func text(_ name: String, limit: Int, isRequired: Bool = false, allowsEmpty: Bool = true) -> String?
  {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    guard case .string(let text) = value else { return refuse(name, "expected a string") }
    if text.isEmpty && !allowsEmpty { return refuse(name, "must not be empty") }
    if !text.has(atMost: limit) { return refuse(name, "is longer than \(limit) characters") }
    // PostgreSQL's type text cannot store it.
    if text.unicodeScalars.contains("\0") { return refuse(name, "contains the character U+0000") }
    return text
  }

  /// Reads a text that people read, of at most `limit` characters: unless it is empty, there is something to be seen.
  package mutating func prose(_ name: String, limit: Int, isRequired: Bool = false, allowsEmpty: Bool = true) -> String?
  {
    guard let text = text(name, limit: limit, isRequired: isRequired, allowsEmpty: allowsEmpty) else { return nil }
    guard text.isEmpty || DisplayName.isSeen(text) else { return refuse(name, DisplayName.unseen) }
    return text
  }

  /// Reads a name that people see in one line (`DisplayName`), of at most `limit` characters.
  package mutating func displayName(
    _ name: String, limit: Int = MaxLength.name, isRequired: Bool = false, allowsEmpty: Bool = true
  ) -> String? {
    guard let text = text(name, limit: limit, isRequired: isRequired, allowsEmpty: allowsEmpty) else { return nil }
    if let problem = DisplayName.problem(with: text) { return refuse(name, problem) }
    return text
  }

  /// Reads a required text of at most `limit` characters, which is not empty; the caller checks the errors (`check`).
  package mutating func required(_ name: String, limit: Int) -> String {
    text(name, limit: limit, isRequired: true, allowsEmpty: false) ?? ""
  }

  /// Reads an author; returns the user that the request acts as if it is absent. The caller checks the errors (`check`).
  package mutating func author(actingAs user: String?) -> String {
    text("author", limit: MaxLength.name, isRequired: user == nil, allowsEmpty: false) ?? user ?? ""
  }

  /// Reads a value of an enumeration.
  package mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Value.Type, isRequired: Bool = false
  ) -> Value? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    if case .string(let text) = value, let choice = Value(named: text) { return choice }
    return refuse(name, "expected one of " + Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
  }

  /// Reads an integer within a range.
  package mutating func integer(_ name: String, in range: ClosedRange<Int>, isRequired: Bool = false) -> Int? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
      return refuse(name, "expected an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  /// Reads the lifetime of a token, in seconds.
  package mutating func expiresIn() -> Int {
    integer("expires_in", in: 1...UserToken.maxLifetime) ?? UserToken.defaultLifetime
  }

  /// Reads a value with a closure, which returns nil for an invalid value.
  package mutating func value<Value>(
    _ name: String, _ expected: String, isRequired: Bool = false, _ read: (JSONValue) -> Value?
  ) -> Value? {
    guard let value = take(name, isRequired: isRequired) else { return nil }
    return read(value) ?? refuse(name, expected)
  }

  /// Reads a required number within a range.
  package mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
    guard let value = take(name, isRequired: true) else { return nil }
    guard case .number(let number) = value, range.contains(number) else {
      return refuse(name, "expected a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  /// Reads a time (RFC 3339). Years have four digits; later ones do not fit into the database's timestamps.
  package mutating func time(_ name: String) -> Date? {
    guard let value = take(name) else { return nil }
    if case .string(let text) = value, let date = JSON.date(from: text), Self.times.contains(date) { return date }
    return refuse(name, "expected a time such as \"2026-11-20T18:30:00Z\" (RFC 3339)")
  }

  /// The names in an object, which need not have been read, in their order.
  package func names(in name: String) -> [String] {
    if case .object(let members)? = fields[name] { members.keys.sorted() } else { [] }
  }

  /// Whether a value is an object, which need not have been read.
  func isObject(_ name: String) -> Bool { if case .object? = fields[name] { true } else { false } }

  /// Reads a nested object with `body`.
  package mutating func object<Value>(_ name: String, _ body: (inout FieldReader) -> Value?) -> Value? {
    guard let value = take(name) else { return nil }
    guard case .object(let fields) = value else { return refuse(name, "expected an object") }
    var reader = FieldReader(fields, path: full(name))
    let result = body(&reader)
    errors += reader.finish()
    return result
  }

  /// Returns all errors, including one for each unknown field.
  package mutating func finish() -> [FieldError] {
    errors += FieldError.unknown(fields.keys, full, in: path.isEmpty ? "body" : path)
    fields = [:]
    return errors
  }

  /// Throws a problem that names every invalid, missing or unknown field.
  package mutating func check() throws(Problem) {
    let errors = finish()
    guard errors.isEmpty else { throw ProblemKind.invalid(errors) }
  }

  package func has(_ name: String) -> Bool { fields[name].map { $0 != .null } ?? false }

  private func full(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  private mutating func take(_ name: String, isRequired: Bool = false) -> JSONValue? {
    let value = fields.removeValue(forKey: name)
    if let value, value != .null { return value }
    if isRequired { errors.append(FieldError(full(name), "is required")) }
    return nil
  }

  /// Adds an error of a field.
  package mutating func refuse(_ name: String, _ detail: String) { errors.append(FieldError(full(name), detail)) }

  private mutating func refuse<Value>(_ name: String, _ detail: String) -> Value? {
    refuse(name, detail) as Void
    return nil
  }
}
