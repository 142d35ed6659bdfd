/// A value of a statement's parameter.
///
/// Most parameters are sent in text format, with the type that the server infers, so that `LIMIT $2` and a `smallint`
/// column both accept an integer. Bytes and times are sent in binary format with their type.
package struct Parameter: Sendable {
  /// The OID of the type; 0: the server infers the type.
  let type: UInt32
  /// Text ends with a zero byte, for C; nil: NULL.
  let bytes: [UInt8]?
  let isBinary: Bool

  private init(text: String?) {
    type = 0
    isBinary = false
    bytes = text.map { Array($0.withoutNUL.utf8) + [0] }
  }

  private init(binary bytes: [UInt8]?, type: UInt32) {
    self.type = type
    self.bytes = bytes
    isBinary = true
  }

  /// NULL of any type.
  package static let null = Parameter(text: nil)

  /// A value in text form: text, JSON, a UUID, an enumeration. U+FFFD replaces NUL, which PostgreSQL does not accept.
  package static func text(_ value: String?) -> Parameter { Parameter(text: value) }

  /// An integer of any width.
  package static func integer(_ value: Int64?) -> Parameter { Parameter(text: value.map(String.init)) }

  /// An integer of any width.
  package static func integer(_ value: Int) -> Parameter { Parameter(text: String(value)) }

  /// A `double precision` number.
  package static func double(_ value: Double?) -> Parameter { Parameter(text: value.map(String.init(describing:))) }

  /// A `boolean`.
  package static func bool(_ value: Bool?) -> Parameter { Parameter(text: value.map { $0 ? "t" : "f" }) }

  /// A `bytea`.
  package static func bytes(_ value: [UInt8]?) -> Parameter { Parameter(binary: value, type: TypeOID.bytea) }

  /// A `timestamptz`, in microseconds since 1970-01-01 UTC.
  package static func timestamp(microseconds: Int64?) -> Parameter {
    let bytes = microseconds.map { value in
      withUnsafeBytes(of: (value - TypeOID.postgresEpoch).bigEndian) { Array($0) }
    }
    return Parameter(binary: bytes, type: TypeOID.timestamptz)
  }

  /// An array of integers; the statement has to cast it: `unnest($1::bigint[])`.
  package static func integers(_ values: [Int64?]) -> Parameter { array(values.map { $0.map(String.init) }) }

  /// An array of texts, UUIDs or JSON values: `unnest($1::text[])`.
  package static func texts(_ values: [String?]) -> Parameter { array(values) }

  /// An array of byte strings: `unnest($1::bytea[])`.
  package static func byteStrings(_ values: [[UInt8]?]) -> Parameter {
    array(values.map { $0.map { "\\x" + Hexadecimal.text(of: $0) } })
  }

  // The text form of arrays (PostgreSQL manual, section 8.15.6), with every element quoted.
  private static func array(_ elements: [String?]) -> Parameter {
    var text = "{"
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      guard let element else {
        text += "NULL"
        continue
      }
      text += "\""
      for character in element.unicodeScalars {
        if character == "\"" || character == "\\" { text += "\\" }
        text.unicodeScalars.append(character)
      }
      text += "\""
    }
    return Parameter(text: text + "}")
  }
}

extension String {
  /// The string with U+FFFD for each NUL, which PostgreSQL does not accept in text.
  var withoutNUL: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }
}

/// Lower-case hexadecimal, as in the text forms of `bytea` and `uuid`.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(of bytes: some Sequence<UInt8>) -> String {
    var characters: [UInt8] = []
    for byte in bytes {
      characters.append(digits[Int(byte >> 4)])
      characters.append(digits[Int(byte & 15)])
    }
    return String(decoding: characters, as: UTF8.self)
  }
}
