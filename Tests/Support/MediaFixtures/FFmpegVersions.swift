package import AV

// What FFmpeg's versions do differently.

extension Library {
  /// Whether FFmpeg reads uncompressed sound of 24 bits in MP4 as what it is, as 7.1 does and 5.1 does not.
  package static let readsSoundOf24Bits =
    versions["libavformat"].flatMap { Int($0.prefix { $0 != "." }) }.map { $0 >= 61 } ?? false
}

extension StreamInfo {
  /// The duration in seconds that the headers state; that of an MP4 as a whole is not read since 7.1.
  package var seconds: Double? { duration.map { timeBase.seconds($0) } }
}
