internal import CFFmpeg

/// libav marks an unknown time by one number; we say nil.
enum Timestamp {
  static func known(_ value: Int64) -> Int64? { value == cffmpeg_no_timestamp() ? nil : value }
  static func raw(_ value: Int64?) -> Int64 { value ?? cffmpeg_no_timestamp() }
}
