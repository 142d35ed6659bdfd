import Glibc
internal import Platform

/// Sends the head and the body of one response.
struct ResponseWriter {
  /// The result of a call of `send`.
  enum SendResult {
    /// The response has been sent completely.
    case done
    /// The socket accepts no bytes now, or other connections must be served first.
    case blocked
    /// The stream has no bytes to send now, or the bytes of a file are being loaded.
    case waiting
    /// The client has disconnected, or the body cannot be completed.
    case failed
  }

  private enum Rest {
    case nothing
    case bytes([UInt8])
    case file(FileRegion, sent: Int64)
    case stream(BodyStream, isChunked: Bool)
  }

  /// The maximum length of a body that is sent together with the head, in bytes.
  private static let maxJoinedBytes = 16 << 10
  /// The maximum number of bytes of a file that one call of `send` sends.
  private static let maxFileBytes = 4 << 20
  private static let streamBufferBytes = 16 << 10

  private var bytes: [UInt8]
  private var sent = 0
  private var rest = Rest.nothing
  private var isLoading = false

  /// - Parameters:
  ///   - head: the encoded head.
  ///   - isHeadOnly: whether the body is omitted, as in a response to HEAD.
  ///   - isChunked: whether a stream is sent in chunks; otherwise, the end of the connection is the end of the body.
  init(head: [UInt8], body: ResponseBody, isHeadOnly: Bool, isChunked: Bool) {
    bytes = head
    if isHeadOnly { return }
    switch body {
    case .bytes(let body):
      if body.count <= Self.maxJoinedBytes { bytes += body } else { rest = .bytes(body) }
    case .file(let region): rest = .file(region, sent: 0)
    case .stream(let stream): rest = .stream(stream, isChunked: isChunked)
    }
  }

  /// Whether the next bytes wait for something else than the socket: for a stream, or until they are loaded.
  var waitsForBody: Bool { stream != nil || isLoading }

  /// The stream that is being sent; nil for other bodies.
  var stream: BodyStream? { if case .stream(let stream, _) = rest { stream } else { nil } }

  /// The bytes in memory that have not been sent.
  var heldBytes: Int {
    let held = bytes.count - sent
    return if case .bytes(let body) = rest { held + body.count } else { held }
  }

  /// Sends as much as the socket accepts.
  mutating func send(on socket: borrowing StreamSocket, waker: Waker) -> SendResult {
    var maxCount = Self.maxFileBytes
    isLoading = false
    while true {
      if sent < bytes.count {
        switch sendBytes(on: socket) {
        case .moved(let count): sent += count
        case .wouldBlock: return .blocked
        case .finished, .broken: return .failed
        }
        continue
      }
      switch rest {
      case .nothing: return .done
      case .bytes(let body): (bytes, sent, rest) = (body, 0, .nothing)
      case .file(let region, let done):
        guard done < region.count else { return .done }
        guard maxCount > 0 else { return .blocked }
        let present: Int64
        switch region.presence(after: done, waker) {
        case .present(let bytes): present = bytes
        case .loading:
          isLoading = true
          return .waiting
        case .failed: return .failed
        }
        let count = min(present, Int64(maxCount))
        switch socket.send(file: region.file.descriptor, from: region.offset + done, count: Int(count)) {
        case .moved(let count):
          rest = .file(region, sent: done + Int64(count))
          maxCount -= count
        case .wouldBlock: return .blocked
        case .finished, .broken: return .failed
        }
      case .stream(let stream, let isChunked):
        bytes = []
        sent = 0
        switch pull(stream, isChunked, waker) {
        case .send: break
        case .wait: return .waiting
        case .end:
          if isChunked { bytes = Array("0\r\n\r\n".utf8) }
          rest = .nothing
        case .close: return .failed
        }
      }
    }
  }

  private func sendBytes(on socket: borrowing StreamSocket) -> StreamSocket.Outcome {
    let isFollowed =
      switch rest {
      case .bytes: true
      case .file(let region, _): region.count > 0
      case .nothing, .stream: false
      }
    return bytes.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sent...]), isFollowed: isFollowed) }
  }

  private mutating func pull(_ stream: BodyStream, _ isChunked: Bool, _ waker: Waker) -> BodyStreamState.Step {
    withUnsafeTemporaryAllocation(byteCount: Self.streamBufferBytes, alignment: 1) { buffer in
      let step = stream.read(into: buffer, waker: waker)
      if case .send(let count) = step {
        if isChunked { bytes += Array((String(count, radix: 16) + "\r\n").utf8) }
        bytes += buffer[..<count]
        if isChunked { bytes += Array("\r\n".utf8) }
      }
      return step
    }
  }
}

/// The encoding of response heads (RFC 9112, section 4).
package enum ResponseHead {
  /// Encodes a head; nil if a field is invalid, such as one that contains a line break.
  static func bytes(_ status: Status, _ headers: HeaderFields) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes += "HTTP/1.1 \(status.code) \(status.phrase)\r\n".utf8
    for field in headers {
      guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter),
        field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else { return nil }
      bytes += field.name.utf8
      bytes += ": ".utf8
      bytes += field.value.utf8
      bytes += "\r\n".utf8
    }
    bytes += "\r\n".utf8
    return bytes
  }

  /// Formats a time for a header field (RFC 9110, section 5.6.7).
  ///
  /// - Parameter seconds: since 1970-01-01 UTC.
  package static func date(_ seconds: Int) -> String {
    var seconds = time_t(seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}
