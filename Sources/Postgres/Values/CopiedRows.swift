/// Rows for a `COPY … FROM STDIN WITH (FORMAT binary)`: each begins, then has a value for each column in order
/// (PostgreSQL manual, COPY, "Binary Format").
package struct CopiedRows: Sendable {
  private(set) var content: [UInt8] = []
  private let columns: Int16

  init(columns: Int) {
    self.columns = Int16(columns)
    content += [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00]  // PGCOPY and its guards
    put(Int32(0))  // no flags
    put(Int32(0))  // no extension of the header
  }

  /// Begins a row.
  package mutating func begin() { put(columns) }

  /// `smallint`, `int` or `bigint`, as wide as the value's type.
  package mutating func integer(_ value: some FixedWidthInteger) {
    put(Int32(value.bitWidth / 8))
    put(value)
  }

  /// Text, or `"char"`.
  package mutating func text(_ value: String?) {
    guard var value = value?.withoutNUL else { return put(Int32(-1)) }
    value.withUTF8 { put($0) }
  }

  /// `bytea`.
  package mutating func bytes(_ value: [UInt8]?) {
    guard let value else { return put(Int32(-1)) }
    value.withUnsafeBufferPointer { put($0) }
  }

  /// `jsonb`, of its text.
  package mutating func json(_ text: [UInt8]) {
    put(Int32(text.count + 1))
    content.append(1)  // the version of the form (jsonb_recv in the server's jsonb.c)
    content += text
  }

  /// `uuid`.
  package mutating func uuid(high: UInt64, low: UInt64) {
    put(Int32(16))
    put(high)
    put(low)
  }

  /// `timestamptz`, in microseconds since 1970-01-01 UTC.
  package mutating func timestamp(microseconds: Int64) { integer(microseconds - TypeNumber.postgresEpoch) }

  /// Forgets what was sent.
  mutating func clear() { content.removeAll(keepingCapacity: true) }

  /// Ends the rows.
  mutating func end() { put(Int16(-1)) }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    put(Int32(bytes.count))
    content += bytes
  }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { content.append(contentsOf: $0) }
  }
}
