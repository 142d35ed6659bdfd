internal import Platform

/// An answer on its way out: its head and what of its body has not been sent.
struct Outgoing {
  /// How far a call came.
  enum Progress {
    /// All was sent.
    case done
    /// The client takes nothing now, or others are to have a turn.
    case blocked
    /// Its stream has nothing to send now.
    case waiting
    /// The client is gone, or the body cannot be sent to its end.
    case failed
  }

  private enum Rest {
    case nothing
    case bytes([UInt8])
    case file(FileRegion, sent: Int64)
    case stream(BodyStream, isChunked: Bool)
  }

  /// A body of so many bytes is sent with the head in one piece.
  private static let maxJoined = 16 << 10
  /// So much of a file is sent in one turn.
  private static let maxInTurn = 4 << 20
  private static let streamBuffer = 16 << 10

  private var bytes: [UInt8]
  private var sent = 0
  private var rest = Rest.nothing

  /// - Parameters:
  ///   - head: the head of the answer.
  ///   - isHeadOnly: whether the body is left out, as in an answer to HEAD.
  ///   - isChunked: whether a body whose length is unknown is sent in chunks; or else the connection's end is its end.
  init(head: [UInt8], body: ResponseBody, isHeadOnly: Bool, isChunked: Bool) {
    bytes = head
    if isHeadOnly { return }
    switch body {
    case .bytes(let body):
      if body.count <= Self.maxJoined { bytes += body } else { rest = .bytes(body) }
    case .file(let region): rest = .file(region, sent: 0)
    case .stream(let stream): rest = .stream(stream, isChunked: isChunked)
    }
  }

  /// Its stream, if its body is one.
  var stream: BodyStream? { if case .stream(let stream, _) = rest { stream } else { nil } }

  /// Sends as much as the client takes.
  mutating func send(on socket: borrowing StreamSocket, waker: Waker) -> Progress {
    var room = Self.maxInTurn
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
        guard room > 0 else { return .blocked }
        let count = min(region.count - done, Int64(room))
        switch socket.send(file: region.descriptor, from: region.offset + done, count: Int(count)) {
        case .moved(let count):
          rest = .file(region, sent: done + Int64(count))
          room -= count
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
    withUnsafeTemporaryAllocation(byteCount: Self.streamBuffer, alignment: 1) { buffer in
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
