/// A Swift type as which a column can be read.
///
/// The initializer returns nil for a column type that it cannot read.
package protocol ColumnValue {
  init?(_ cell: Cell)
}

/// The value of one column of one row in binary format.
package struct Cell {
  let type: UInt32
  let bytes: UnsafeRawBufferPointer?

  package var isNull: Bool { bytes == nil }

  /// The halves of a `uuid`; nil for another type.
  package var uuid: (high: UInt64, low: UInt64)? {
    guard type == TypeOID.uuid, let bytes, bytes.count == 16 else { return nil }
    return (
      UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    )
  }

  /// The text of a `jsonb` value, without the version byte before it (jsonb_send in the server's jsonb.c).
  package var jsonText: [UInt8]? {
    guard type == TypeOID.jsonb, let bytes, bytes.first == 1 else { return nil }
    return Array(bytes.dropFirst())
  }

  /// The value as a big-endian integer; nil if its length differs.
  func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
    guard let bytes, bytes.count == MemoryLayout<Integer>.size else { return nil }
    return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
  }
}

extension Int64: ColumnValue {
  /// Reads any integer type, and `timestamptz` as microseconds since 1970-01-01 UTC; `infinity` is `Int64.max`.
  package init?(_ cell: Cell) {
    let value: Int64?
    switch cell.type {
    case TypeOID.int8: value = cell.bigEndian(Int64.self)
    case TypeOID.int4: value = cell.bigEndian(Int32.self).map(Int64.init)
    case TypeOID.int2: value = cell.bigEndian(Int16.self).map(Int64.init)
    case TypeOID.oid: value = cell.bigEndian(UInt32.self).map(Int64.init)
    case TypeOID.timestamptz:
      // The server sends `infinity` as Int64.max (timestamp.h).
      value = cell.bigEndian(Int64.self).map { $0.addingReportingOverflow(TypeOID.postgresEpoch) }.map {
        $0.overflow ? .max : $0.partialValue
      }
    default: value = nil
    }
    guard let value else { return nil }
    self = value
  }
}

extension Int: ColumnValue {
  /// Reads any integer type.
  package init?(_ cell: Cell) {
    guard let value = Int64(cell) else { return nil }
    self = Int(value)
  }
}

extension Double: ColumnValue {
  /// Reads `real` and `double precision`.
  package init?(_ cell: Cell) {
    switch cell.type {
    case TypeOID.float8:
      guard let bits = cell.bigEndian(UInt64.self) else { return nil }
      self = Double(bitPattern: bits)
    case TypeOID.float4:
      guard let bits = cell.bigEndian(UInt32.self) else { return nil }
      self = Double(Float(bitPattern: bits))
    default: return nil
    }
  }
}

extension Bool: ColumnValue {
  /// Reads `boolean`.
  package init?(_ cell: Cell) {
    guard cell.type == TypeOID.bool, let byte = cell.bigEndian(UInt8.self) else { return nil }
    self = byte != 0
  }
}

extension String: ColumnValue {
  /// Reads any text type, `"char"`, JSON, and `uuid` in its text form.
  package init?(_ cell: Cell) {
    guard let bytes = cell.bytes else { return nil }
    switch cell.type {
    case TypeOID.text, TypeOID.varchar, TypeOID.bpchar, TypeOID.name, TypeOID.char, TypeOID.json,
      TypeOID.unknown:
      self = String(decoding: bytes, as: UTF8.self)
    case TypeOID.jsonb:
      guard let text = cell.jsonText else { return nil }
      self = String(decoding: text, as: UTF8.self)
    case TypeOID.uuid:
      guard bytes.count == 16 else { return nil }
      let ends = [0, 4, 6, 8, 10, 16]
      self = zip(ends, ends.dropFirst()).map { Hexadecimal.text(of: bytes[$0..<$1]) }.joined(separator: "-")
    default: return nil
    }
  }
}

extension [UInt8]: ColumnValue {
  /// Reads `bytea`.
  package init?(_ cell: Cell) {
    guard cell.type == TypeOID.bytea, let bytes = cell.bytes else { return nil }
    self = Array(bytes)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// Reads NULL as nil.
  package init?(_ cell: Cell) {
    if cell.isNull {
      self = Wrapped?.none
    } else {
      guard let value = Wrapped(cell) else { return nil }
      self = Wrapped?.some(value)
    }
  }
}

/// The OIDs of built-in types (PostgreSQL's `pg_type.dat`), which never change.
enum TypeOID {
  static let bool: UInt32 = 16
  static let bytea: UInt32 = 17
  static let char: UInt32 = 18
  static let name: UInt32 = 19
  static let int8: UInt32 = 20
  static let int2: UInt32 = 21
  static let int4: UInt32 = 23
  static let text: UInt32 = 25
  static let oid: UInt32 = 26
  static let json: UInt32 = 114
  static let float4: UInt32 = 700
  static let float8: UInt32 = 701
  static let unknown: UInt32 = 705
  static let bpchar: UInt32 = 1042
  static let varchar: UInt32 = 1043
  static let timestamptz: UInt32 = 1184
  static let uuid: UInt32 = 2950
  static let jsonb: UInt32 = 3802

  /// PostgreSQL's epoch, 2000-01-01 UTC, in microseconds since 1970-01-01 UTC.
  static let postgresEpoch: Int64 = 946_684_800_000_000
}
