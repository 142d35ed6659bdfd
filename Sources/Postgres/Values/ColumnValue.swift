/// A type that a column's value can be read as.
///
/// Results travel in binary; `Cell` is what arrived. Return nil for a type of column that cannot be read so.
package protocol ColumnValue {
  init?(_ cell: Cell)
}

/// The value of one column of one row, as the server sent it: binary, of a type known by number.
package struct Cell {
  let type: UInt32
  let bytes: UnsafeRawBufferPointer?

  /// Whether it is NULL.
  package var isNull: Bool { bytes == nil }

  /// The two halves of a `uuid`.
  package var uuid: (high: UInt64, low: UInt64)? {
    guard type == TypeNumber.uuid, let bytes, bytes.count == 16 else { return nil }
    return (
      UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    )
  }

  /// The text of a `jsonb` value: one byte of version stands before it (jsonb_send in the server's jsonb.c).
  package var jsonText: [UInt8]? {
    guard type == TypeNumber.jsonb, let bytes, bytes.first == 1 else { return nil }
    return Array(bytes.dropFirst())
  }

  /// The big-endian integer it holds, if it is exactly that long.
  func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
    guard let bytes, bytes.count == MemoryLayout<Integer>.size else { return nil }
    return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
  }
}

extension Int64: ColumnValue {
  /// Any integer type; of a `timestamptz` the microseconds since 1970-01-01 UTC.
  package init?(_ cell: Cell) {
    let value: Int64?
    switch cell.type {
    case TypeNumber.int8: value = cell.bigEndian(Int64.self)
    case TypeNumber.int4: value = cell.bigEndian(Int32.self).map(Int64.init)
    case TypeNumber.int2: value = cell.bigEndian(Int16.self).map(Int64.init)
    case TypeNumber.oid: value = cell.bigEndian(UInt32.self).map(Int64.init)
    case TypeNumber.timestamptz:
      // `infinity` is the greatest number.
      value = cell.bigEndian(Int64.self).map { $0.addingReportingOverflow(TypeNumber.postgresEpoch) }.map {
        $0.overflow ? .max : $0.partialValue
      }
    default: value = nil
    }
    guard let value else { return nil }
    self = value
  }
}

extension Int: ColumnValue {
  /// Any integer type.
  package init?(_ cell: Cell) {
    guard let value = Int64(cell) else { return nil }
    self = Int(value)
  }
}

extension Double: ColumnValue {
  /// `real` or `double precision`.
  package init?(_ cell: Cell) {
    switch cell.type {
    case TypeNumber.float8:
      guard let bits = cell.bigEndian(UInt64.self) else { return nil }
      self = Double(bitPattern: bits)
    case TypeNumber.float4:
      guard let bits = cell.bigEndian(UInt32.self) else { return nil }
      self = Double(Float(bitPattern: bits))
    default: return nil
    }
  }
}

extension Bool: ColumnValue {
  /// `boolean`.
  package init?(_ cell: Cell) {
    guard cell.type == TypeNumber.bool, let byte = cell.bigEndian(UInt8.self) else { return nil }
    self = byte != 0
  }
}

extension String: ColumnValue {
  /// Text of any kind, JSON, `"char"`, or a UUID in its usual form.
  package init?(_ cell: Cell) {
    guard let bytes = cell.bytes else { return nil }
    switch cell.type {
    case TypeNumber.text, TypeNumber.varchar, TypeNumber.bpchar, TypeNumber.name, TypeNumber.char, TypeNumber.json,
      TypeNumber.unknown:
      self = String(decoding: bytes, as: UTF8.self)
    case TypeNumber.jsonb:
      guard let text = cell.jsonText else { return nil }
      self = String(decoding: text, as: UTF8.self)
    case TypeNumber.uuid:
      guard bytes.count == 16 else { return nil }
      let ends = [0, 4, 6, 8, 10, 16]
      self = zip(ends, ends.dropFirst()).map { Hexadecimal.text(of: bytes[$0..<$1]) }.joined(separator: "-")
    default: return nil
    }
  }
}

extension [UInt8]: ColumnValue {
  /// `bytea`.
  package init?(_ cell: Cell) {
    guard cell.type == TypeNumber.bytea, let bytes = cell.bytes else { return nil }
    self = Array(bytes)
  }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// NULL becomes nil.
  package init?(_ cell: Cell) {
    if cell.isNull {
      self = Wrapped?.none
    } else {
      guard let value = Wrapped(cell) else { return nil }
      self = Wrapped?.some(value)
    }
  }
}
