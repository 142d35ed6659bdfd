import FoundationEssentials

/// Writes one value as JSON: Foundation's encoder makes the same text with the settings of `JSON.encode`, without line breaks.
///
/// Foundation's encoder makes a tree of all values and converts each key with functions for Unicode, which is most of the time
/// of a small response.
final class JSONWriter: Encoder {
  private enum Kind { case object, array, scalar }

  private enum Element {
    /// Bytes of `content`.
    case text(Range<Int>)
    /// A nested container, which may still be written to.
    case writer(JSONWriter)
  }

  private let convertsKeys: Bool
  fileprivate let encodesNil: Bool
  // One thread writes, and no call is within another: the checks of that took a tenth of the time.
  @exclusivity(unchecked) private var kind = Kind.object
  /// The values, one after the other, without keys and separators.
  @exclusivity(unchecked) private var content: [UInt8] = []
  /// The values in their order, each with its key in an object.
  @exclusivity(unchecked) private var elements: [(key: String, order: Int, element: Element)] = []

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(convertsKeys: Bool = true, encodesNil: Bool = false) {
    self.convertsKeys = convertsKeys
    self.encodesNil = encodesNil
  }

  /// The text of a value.
  static func text(of value: some Encodable) throws -> [UInt8] {
    var text: [UInt8] = []
    try append(value, to: &text)
    return text
  }

  // MARK: Encoder

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    kind = .object
    return KeyedEncodingContainer(Members<Key>(writer: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    kind = .array
    return Elements(writer: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    kind = .scalar
    return Scalar(writer: self)
  }

  fileprivate var count: Int { elements.count }

  /// Adds a value; the key is empty in an array.
  fileprivate func add(_ value: some Encodable, _ key: String = "") throws {
    let start = content.count
    try Self.append(value, to: &content)
    add(.text(start..<content.count), key)
  }

  fileprivate func addNull(_ key: String = "") {
    content += "null".utf8
    add(.text(content.count - 4..<content.count), key)
  }

  /// Adds a container, which is written to later.
  fileprivate func nested(_ key: String = "") -> JSONWriter {
    let nested = JSONWriter()
    add(.writer(nested), key)
    return nested
  }

  private func add(_ element: Element, _ key: String) {
    elements.append((convertsKeys ? Self.snakeCase(key) : key, elements.count, element))
  }

  // MARK: Text

  /// Appends the text of all that was added.
  private func appendText(to text: inout [UInt8]) {
    switch kind {
    case .scalar: for (_, _, element) in elements.suffix(1) { append(element, to: &text) }
    case .array:
      text.append(UInt8(ascii: "["))
      for (index, (_, _, element)) in elements.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        append(element, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object:
      elements.sort { one, other in
        one.key == other.key ? one.order < other.order : one.key.utf8.lexicographicallyPrecedes(other.key.utf8)
      }
      text.append(UInt8(ascii: "{"))
      for (index, (key, _, element)) in elements.enumerated() {
        // Of several values of a key, the last one counts.
        if index + 1 < elements.count, elements[index + 1].key == key { continue }
        if text.last != UInt8(ascii: "{") { text.append(UInt8(ascii: ",")) }
        Self.append(string: key, to: &text)
        text.append(UInt8(ascii: ":"))
        append(element, to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private func append(_ element: Element, to text: inout [UInt8]) {
    switch element {
    case .text(let range): text += content[range]
    case .writer(let writer): writer.appendText(to: &text)
    }
  }

  private static func append<Value: Encodable>(_ value: Value, to text: inout [UInt8]) throws {
    // Types are compared before anything is cast: a cast that fails is slow, and most would.
    if Value.self == String.self, let string = value as? String { return append(string: string, to: &text) }
    if Value.self == Bool.self, let flag = value as? Bool {
      text += (flag ? "true" : "false").utf8
    } else if Value.self == Int.self, let number = value as? Int {
      text += number.description.utf8
    } else if Value.self == Double.self, let number = value as? Double {
      try append(number: number, number.isFinite, to: &text)
    } else if Value.self == Float.self, let number = value as? Float {
      try append(number: number, number.isFinite, to: &text)
    } else if Value.self == Date.self, let date = value as? Date {
      append(string: JSON.text(of: date), to: &text)
    } else if integers.contains(ObjectIdentifier(Value.self)), let number = value as? any BinaryInteger {
      text += number.description.utf8
    } else {
      // The keys of a dictionary, which is a pointer, are data.
      let isDictionary = MemoryLayout<Value>.size == MemoryLayout<Int>.size && value is any StringKeyed
      let writer = JSONWriter(convertsKeys: !isDictionary, encodesNil: Value.self is any NilEncodable.Type)
      try value.encode(to: writer)
      writer.appendText(to: &text)
    }
  }

  private static let integers: Set<ObjectIdentifier> = [
    ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self),
    ObjectIdentifier(Int64.self),
    ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self),
    ObjectIdentifier(UInt64.self),
    ObjectIdentifier(UInt.self),
  ]

  private static func append(
    number: some CustomStringConvertible, _ isFinite: Bool, to text: inout [UInt8]
  ) throws {
    let digits = number.description
    guard isFinite else {
      throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "JSON has no \(digits)"))
    }
    text += (digits.hasSuffix(".0") ? digits.dropLast(2) : digits[...]).utf8
  }

  private static func append(string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { bytes in
      // Most strings need no escape.
      guard bytes.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
        text.append(contentsOf: bytes)
        return
      }
      for byte in bytes { append(escaping: byte, to: &text) }
    }
    text.append(UInt8(ascii: "\""))
  }

  private static func append(escaping byte: UInt8, to text: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
    case 0x08: text += "\\b".utf8
    case 0x09: text += "\\t".utf8
    case 0x0A: text += "\\n".utf8
    case 0x0C: text += "\\f".utf8
    case 0x0D: text += "\\r".utf8
    // Text from a file may contain NUL, which PostgreSQL's jsonb rejects.
    case 0x00: text += "\\ufffd".utf8
    case 0x01..<0x20: text += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
    default: text.append(byte)
    }
  }

  /// `createdAt` as `created_at`, `mediaURL` as `media_url`: a word begins at a capital letter after another letter, and
  /// at the last one of several before a small letter.
  private static func snakeCase(_ name: String) -> String {
    let isCapital: (UInt8) -> Bool = { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    guard name.utf8.contains(where: isCapital) else { return name }
    let bytes = Array(name.utf8)
    var result: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      guard isCapital(byte) else {
        result.append(byte)
        continue
      }
      let isAfterSmall = index > 0 && !isCapital(bytes[index - 1]) && bytes[index - 1] != UInt8(ascii: "_")
      let isBeforeSmall = index + 1 < bytes.count && bytes[index + 1] >= UInt8(ascii: "a")
      if isAfterSmall || index > 0 && isCapital(bytes[index - 1]) && isBeforeSmall { result.append(UInt8(ascii: "_")) }
      result.append(byte | 0x20)
    }
    return String(decoding: result, as: UTF8.self)
  }
}

/// A type whose synthesized encoding has all of its keys: a property that is nil is null. That of another type lacks the key.
package protocol NilEncodable: Encodable {}

/// A dictionary whose keys `JSONWriter` does not change.
private protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String, Value: Encodable {}

// A generic function is also the one for each of the types that the protocols list. The frequent types have their own: nothing is
// cast for them.

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: JSONWriter
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { writer.addNull(key.stringValue) }
  func encode(_ value: String, forKey key: Key) throws { try writer.add(value, key.stringValue) }
  func encode(_ value: Int, forKey key: Key) throws { try writer.add(value, key.stringValue) }
  func encode(_ value: Bool, forKey key: Key) throws { try writer.add(value, key.stringValue) }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try writer.add(value, key.stringValue) }
  private func addIfPresent(_ value: (some Encodable)?, _ key: Key) throws {
    if let value { try encode(value, forKey: key) } else if writer.encodesNil { encodeNil(forKey: key) }
  }
  // The protocol has functions for these types, which the generic one does not replace.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try addIfPresent(value, key) }
  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try addIfPresent(value, key) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { writer.nested(key.stringValue).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    writer.nested(key.stringValue).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { writer.nested("super") }
  func superEncoder(forKey key: Key) -> any Encoder { writer.nested(key.stringValue) }
}

private struct Elements: UnkeyedEncodingContainer {
  let writer: JSONWriter
  var codingPath: [any CodingKey] { [] }
  var count: Int { writer.count }

  func encodeNil() { writer.addNull() }
  func encode<Value: Encodable>(_ value: Value) throws { try writer.add(value) }
  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    writer.nested().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { writer.nested().unkeyedContainer() }
  func superEncoder() -> any Encoder { writer.nested() }
}

private struct Scalar: SingleValueEncodingContainer {
  let writer: JSONWriter
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { writer.addNull() }
  func encode<Value: Encodable>(_ value: Value) throws { try writer.add(value) }
}
