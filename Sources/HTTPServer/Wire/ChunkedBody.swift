/// A strict parser of chunked bodies (RFC 9112, section 7.1) that ignores chunk extensions and trailers.
struct ChunkedBody {
  /// A piece at the start of the input, with its length in bytes.
  enum Piece {
    /// Content of the body.
    case content(Int)
    /// Bytes that are not content.
    case framing(Int)
    /// Bytes that are not content, after which the body ends.
    case end(Int)
  }

  private enum Phase {
    case size
    case content(Int64)
    /// The line break after a chunk's content.
    case separator
    case trailers
  }

  private static let maxLineBytes = 256
  private static let maxTrailerBytes = 8 << 10

  private var phase = Phase.size
  private var trailerBytes = 0

  /// Returns the piece at the start of the input; nil if it is incomplete.
  mutating func read(_ input: ArraySlice<UInt8>) throws(Problem) -> Piece? {
    switch phase {
    case .content(let rest):
      guard !input.isEmpty else { return nil }
      let count = Int(min(rest, Int64(input.count)))
      phase = rest == Int64(count) ? .separator : .content(rest - Int64(count))
      return .content(count)
    case .separator:
      guard let line = try Self.line(input, maxBytes: 0) else { return nil }
      phase = .size
      return .framing(line.count + 2)
    case .size:
      guard let line = try Self.line(input, maxBytes: Self.maxLineBytes) else { return nil }
      let size = try Self.size(line)
      phase = size == 0 ? .trailers : .content(size)
      return .framing(line.count + 2)
    case .trailers:
      guard let line = try Self.line(input, maxBytes: Self.maxTrailerBytes) else { return nil }
      if line.isEmpty { return .end(2) }
      trailerBytes += line.count
      guard trailerBytes <= Self.maxTrailerBytes else { throw .malformedRequest("The trailers are too long.") }
      _ = try HeadParser.field(line)
      return .framing(line.count + 2)
    }
  }

  /// Returns the line at the start of the input, without its CR LF; nil if it is incomplete.
  private static func line(_ input: ArraySlice<UInt8>, maxBytes: Int) throws(Problem) -> ArraySlice<UInt8>? {
    let window = input.prefix(maxBytes + 2)
    guard let end = window.firstIndex(of: UInt8(ascii: "\n")) else {
      if window.count == maxBytes + 2 || !window.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0D }) {
        throw .malformedRequest("A line between chunks is too long or contains a control character.")
      }
      return nil
    }
    guard end > window.startIndex, window[end - 1] == UInt8(ascii: "\r") else {
      throw .malformedRequest("A line between chunks ends without CR.")
    }
    let line = window[..<(end - 1)]
    guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw .malformedRequest("A line between chunks contains a control character.")
    }
    return line
  }

  private static func size(_ line: ArraySlice<UInt8>) throws(Problem) -> Int64 {
    let digits = line.prefix { $0.hexadecimalValue != nil }
    let rest = line[digits.endIndex...]
    // A number of fifteen digits does not overflow.
    guard (1...15).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";") else {
      throw .malformedRequest("A chunk's size is not a hexadecimal number.")
    }
    return digits.reduce(0) { $0 << 4 | Int64($1.hexadecimalValue ?? 0) }
  }
}
