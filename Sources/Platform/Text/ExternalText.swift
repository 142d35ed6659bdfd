/// Text from outside: UTF-8 whose runs of combining marks are short.
///
/// To hash or to compare a String normalises it, which sorts each run of marks by insertion: 64 KiB of marks take seconds. No
/// language needs runs as long as the limit (UAX #15, section 13, "Stream-Safe Text Process").
package enum ExternalText {
  /// The maximum number of combining marks in a row.
  package static let maxMarks = 30

  /// What a text of bytes must be, for messages.
  package static let expected = "UTF-8 with at most \(maxMarks) combining marks in a row"

  /// Returns the text of bytes; nil if they are not UTF-8, or have too many marks in a row.
  package static func decode(_ bytes: some Collection<UInt8>) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return hasLongRun(text) ? nil : text
  }

  /// Returns the text of bytes that mean nothing beyond ASCII, such as a header field's (RFC 9110, section 5.5): one byte is one
  /// character (ISO 8859-1), and none combines with another.
  ///
  /// It takes bytes in memory: a generic function of another module asks its collection for each byte, which takes a millisecond for a head.
  package static func latin(_ bytes: UnsafeRawBufferPointer) -> String {
    if bytes.reduce(0, |) < 0x80 { return String(decoding: bytes, as: UTF8.self) }
    return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      var count = 0
      func append(_ unit: UInt8) {
        text[count] = unit
        count += 1
      }
      for byte in bytes {
        if byte < 0x80 {
          append(byte)
        } else {
          append(0xC0 | byte >> 6)
          append(0x80 | byte & 0x3F)
        }
      }
      return count
    }
  }

  /// Whether the texts in JSON are such, also those written with escapes, for decoders that are not ours: they look up members by name.
  package static func isIn(json bytes: [UInt8]) -> Bool {
    // A decoder that finds a zero among the first bytes reads UTF-16 or UTF-32 (RFC 4627, section 3).
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { return false }
    var scalars = text.unicodeScalars.makeIterator()
    var run = 0
    while let scalar = scalars.next() {
      let isMark = scalar == "\\" ? isEscapedMark(&scalars) : isMark(scalar)
      run = isMark ? run + 1 : 0
      if run > maxMarks { return false }
    }
    return true
  }

  /// Reads what stands behind a backslash (RFC 8259, section 7).
  private static func isEscapedMark(_ scalars: inout String.UnicodeScalarView.Iterator) -> Bool {
    guard scalars.next() == "u" else { return false }
    let first = escapedUnit(&scalars)
    guard 0xD800...0xDBFF ~= first else { return Unicode.Scalar(first).map(isMark) ?? true }
    // Half of a surrogate pair alone counts as a mark: no decoder takes it.
    guard scalars.next() == "\\", scalars.next() == "u" else { return true }
    let second = escapedUnit(&scalars)
    guard 0xDC00...0xDFFF ~= second else { return true }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)).map(isMark) ?? true
  }

  private static func escapedUnit(_ scalars: inout String.UnicodeScalarView.Iterator) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      unit = unit << 4 | UInt32(truncatingIfNeeded: scalars.next().flatMap { Character($0).hexDigitValue } ?? 0)
    }
    return unit
  }

  private static func hasLongRun(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    // Each run that is too long has one of these: to look up the category of each character takes most of the time.
    for (number, index) in scalars.indices.enumerated() where number % (maxMarks + 1) == maxMarks {
      guard isMark(scalars[index]) else { continue }
      let before = scalars[..<index].suffix(maxMarks).reversed().prefix(while: isMark).count
      let after = scalars[index...].prefix(maxMarks + 1).prefix(while: isMark).count
      if before + after > maxMarks { return true }
    }
    return false
  }

  /// All characters of a combining class other than zero are among them, and those that decompose into such alone.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    // The first is U+0300.
    guard scalar.value >= 0x300 else { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }
}
