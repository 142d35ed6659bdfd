/// Parses the bytes of a connection into consecutive requests, without a socket.
struct RequestReader {
  /// An event of the connection.
  enum Event {
    case head(RequestHead)
    /// Bytes of the body, of as many chunks as have been received.
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
  /// The received bytes; `append` removes those before `start`, which have been parsed.
  private(set) var input: [UInt8] = []
  private var start = 0

  init(limits: HeadParser.Limits) { parser = HeadParser(limits: limits) }

  /// Adds received bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // Parsed bytes are removed, or the memory would grow with each pipelined request.
    input.removeSubrange(..<start)
    start = 0
    input += bytes
  }

  /// Whether a head has been received in part.
  var isWithinHead: Bool {
    if case .head = phase { parser.hasStarted || start + parser.scanned < input.count } else { false }
  }

  /// Whether the last request is complete and no part of another has been received.
  var isBetweenRequests: Bool { if case .head = phase { !isWithinHead } else { false } }

  /// Whether there are bytes that have not been parsed.
  var hasInput: Bool { start < input.count }

  /// The next event; nil if more bytes are needed.
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
        let content = try content(of: &body)
        if !content.isEmpty { return .body(content) }
        guard case .end = phase else { return nil }
      case .end:
        phase = .head
        return .end
      }
    }
  }

  /// The content of the chunks that have been received: each of them may be a byte.
  private mutating func content(of body: inout ChunkedBody) throws(Problem) -> [UInt8] {
    var content: [UInt8] = []
    while let piece = try body.read(input[start...]) {
      switch piece {
      case .content(let count):
        if content.isEmpty { content = take(count) } else { content += take(count) }
      case .framing(let count): drop(count)
      case .end(let count):
        drop(count)
        phase = .end
        return content
      }
    }
    phase = .chunked(body)
    return content
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
