/// Reads the requests of a connection from its bytes, one after the other, without a socket.
struct RequestReader {
  /// What comes next on a connection.
  enum Event {
    case head(RequestHead)
    /// A piece of the body.
    case body([UInt8])
    /// The request is complete.
    case end
  }

  private enum Phase {
    case head
    case length(Int64)
    case chunked(ChunkedBody)
    case end
  }

  private var parser: HeadParser
  private var phase = Phase.head
  /// What came in; what was read of it goes with the next bytes.
  private(set) var input: [UInt8] = []
  private var start = 0

  init(limits: HeadParser.Limits) { parser = HeadParser(limits: limits) }

  /// Takes what came in.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // What was read goes, or a client that never ends between two requests would fill the memory.
    input.removeSubrange(..<start)
    start = 0
    input += bytes
  }

  /// Whether the first bytes of a request have come, and not yet the whole head.
  var isWithinHead: Bool {
    if case .head = phase { parser.hasBegun || start + parser.scanned < input.count } else { false }
  }

  /// Whether the last request has come to its end, and nothing of another has come.
  var isBetweenRequests: Bool { if case .head = phase { !isWithinHead } else { false } }

  /// Whether there are bytes that were not read.
  var hasInput: Bool { start < input.count }

  /// What comes next; nil if more bytes must come first.
  mutating func next() throws(Problem) -> Event? {
    while true {
      switch phase {
      case .head:
        guard let (head, count) = try parser.parse(input[start...]) else { return nil }
        drop(count)
        phase =
          switch head.framing {
          case .none: .end
          case .length(let length): .length(length)
          case .chunked: .chunked(ChunkedBody())
          }
        return .head(head)
      case .length(let rest):
        guard start < input.count else { return nil }
        let count = Int(min(rest, Int64(input.count - start)))
        phase = rest == Int64(count) ? .end : .length(rest - Int64(count))
        return .body(take(count))
      case .chunked(var body):
        guard let piece = try body.read(input[start...]) else { return nil }
        phase = .chunked(body)
        switch piece {
        case .content(let count): return .body(take(count))
        case .framing(let count): drop(count)
        case .end(let count):
          drop(count)
          phase = .end
        }
      case .end:
        phase = .head
        return .end
      }
    }
  }

  private mutating func take(_ count: Int) -> [UInt8] {
    if start == 0 && count == input.count {
      defer { input = [] }
      return input
    }
    defer { drop(count) }
    return Array(input[start..<start + count])
  }

  private mutating func drop(_ count: Int) {
    start += count
    if start == input.count { (input, start) = ([], 0) }
  }
}
