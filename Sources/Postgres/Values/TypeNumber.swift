/// The numbers of the built-in types (PostgreSQL's `pg_type.dat`), which never change.
enum TypeNumber {
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

  /// 2000-01-01 UTC, where PostgreSQL counts times from, in microseconds since 1970-01-01 UTC.
  static let postgresEpoch: Int64 = 946_684_800_000_000
}
