/// A value for a placeholder of a statement.
///
/// Most travel as text and take the type the server infers (so that `limit $2` and a `smallint` column both take an
/// integer); bytes and times travel in binary with their type named.
package struct Parameter: Sendable {
  /// The type's number in `pg_type`; 0: the server infers it.
  let type: UInt32
  /// Without the zero byte that text needs in C; nil is NULL.
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

  /// NULL of whatever type is needed.
  package static let null = Parameter(text: nil)

  /// Text, JSON, a UUID, an enumeration: anything with a text form. PostgreSQL has no NUL in text: U+FFFD stands for it.
  package static func text(_ value: String?) -> Parameter { Parameter(text: value) }

  /// A whole number for a column of any integer type.
  package static func integer(_ value: Int64?) -> Parameter { Parameter(text: value.map(String.init)) }

  /// A whole number for a column of any integer type.
  package static func integer(_ value: Int) -> Parameter { Parameter(text: String(value)) }

  /// A number in double precision.
  package static func double(_ value: Double?) -> Parameter { Parameter(text: value.map(String.init(describing:))) }

  /// A truth value.
  package static func bool(_ value: Bool?) -> Parameter { Parameter(text: value.map { $0 ? "t" : "f" }) }

  /// Bytes as they are (`bytea`).
  package static func bytes(_ value: [UInt8]?) -> Parameter { Parameter(binary: value, type: TypeNumber.bytea) }

  /// A point in time (`timestamptz`), in microseconds since 1970-01-01 UTC.
  package static func timestamp(microseconds: Int64?) -> Parameter {
    let bytes = microseconds.map { value in
      withUnsafeBytes(of: (value - TypeNumber.postgresEpoch).bigEndian) { Array($0) }
    }
    return Parameter(binary: bytes, type: TypeNumber.timestamptz)
  }

  /// An array of whole numbers; say its type in the statement: `unnest($1::bigint[])`.
  package static func integers(_ values: [Int64?]) -> Parameter { array(values.map { $0.map(String.init) }) }

  /// An array of double precision numbers: `unnest($1::float8[])`.
  package static func doubles(_ values: [Double?]) -> Parameter {
    array(values.map { $0.map(String.init(describing:)) })
  }

  /// An array of texts, UUIDs or JSON values: `unnest($1::text[])`.
  package static func texts(_ values: [String?]) -> Parameter { array(values) }

  /// An array of byte strings: `unnest($1::bytea[])`.
  package static func byteStrings(_ values: [[UInt8]?]) -> Parameter {
    array(values.map { $0.map { "\\x" + Hexadecimal.text(of: $0) } })
  }

  // The text form of arrays (PostgreSQL manual, section 8.15.6): every element quoted, so that none is misread.
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
  /// The same with U+FFFD for each NUL: PostgreSQL has none in text.
  var withoutNUL: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }
}
