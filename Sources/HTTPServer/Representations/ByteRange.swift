/// One range of a Range field (RFC 9110 section 14.1.2).
enum ByteRange: Hashable {
  /// From an offset to an offset, both included; to the end without the second.
  case from(Int64, through: Int64?)
  /// The last bytes.
  case suffix(Int64)

  /// Reads a Range field; nil when it asks for several ranges, is in another unit or is malformed, which all mean
  /// that it is ignored.
  init?(field: String) {
    let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].trimmingBlanks.lowercasedASCII == "bytes", !parts[1].contains(",") else {
      return nil
    }
    let ends = parts[1].trimmingBlanks.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, let last?):
      guard first <= last else { return nil }
      self = .from(first, through: last)
    case (let first?, nil):
      guard ends[1].isEmpty else { return nil }
      self = .from(first, through: nil)
    case (nil, let count?):
      guard ends[0].isEmpty else { return nil }
      self = .suffix(count)
    case (nil, nil): return nil
    }
  }

  /// The bytes meant of a representation of some length; nil when there is none of them.
  func resolve(length: Int64) -> Range<Int64>? {
    switch self {
    case .from(let first, let last):
      guard first < length else { return nil }
      return first..<(min(last ?? length - 1, length - 1) + 1)
    case .suffix(let count):
      guard count > 0, length > 0 else { return nil }
      return max(0, length - count)..<length
    }
  }

  // A number past Int64 reaches past every file: it means the same as the largest.
  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int64(text) ?? .max - 1
  }
}
