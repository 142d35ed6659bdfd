import Platform

/// What a service says of itself.
enum ServiceLog {
  /// The port that it listens on, by the first line of its output; nil while it has not said so.
  static func url(in path: String) -> UInt16? {
    guard let bytes = try? Descriptor(reading: path).contents() else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return lines.first { $0.hasPrefix("http://") }.flatMap { line in
      line.split(separator: ":").last.flatMap { UInt16($0) }
    }
  }
}
