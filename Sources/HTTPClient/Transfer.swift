import Glibc

/// One request: the response as received by the callbacks of libcurl, and the progress of the body.
final class Transfer {
  private var status = 0
  private var headers: [String: String] = [:]
  private var body: [UInt8] = []
  /// The descriptor of the file that receives the body of a response with status 200; nil: the body is stored in
  /// memory.
  private let file: Int32?
  /// The maximum length of a body in memory.
  private let maxBytes: Int
  private let continues: (Int64) -> Bool
  /// The reason why this client aborted the request.
  var failure: HTTPClientError?

  init(
    file: Int32? = nil, maxBytes: Int = .max, continues: @escaping (Int64) -> Bool = { _ in true }
  ) {
    self.file = file
    self.maxBytes = maxBytes
    self.continues = continues
  }

  var response: HTTPResponse { HTTPResponse(status: status, headers: headers, body: body) }

  /// Receives a line of a head; the head of an interim response is replaced by the next one.
  fileprivate func receive(header: String) {
    if header.hasPrefix("HTTP/") {
      status = header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      headers = [:]
    } else if let colon = header.firstIndex(of: ":") {
      let value = header[header.index(after: colon)...].drop { $0 == " " }
      headers[header[..<colon].lowercased()] = String(value.prefix { !$0.isNewline })
    }
  }

  /// Receives a piece of the body; false if it cannot be written, or if the body is too long.
  fileprivate func receive(body piece: UnsafeRawBufferPointer) -> Bool {
    guard let file, status == 200 else {
      guard piece.count <= maxBytes - body.count else {
        failure = HTTPClientError("the response is longer than \(maxBytes) bytes")
        return false
      }
      body += piece
      return true
    }
    var rest = piece
    while !rest.isEmpty {
      let count = write(file, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        failure = HTTPClientError("cannot write the response to the file: \(String(cString: strerror(errno)))")
        return false
      }
    }
    return true
  }

  /// Reports the number of bytes of the body that have been sent; false if the request must be aborted.
  fileprivate func report(sent: Int64) -> Bool { continues(sent) }
}

func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let transfer else { return 0 }
  let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
  Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue().receive(header: line)
  return size * count
}

func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let transfer else { return 0 }
  let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
  return Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue().receive(body: piece) ? size * count : 0
}

func reportProgress(
  _ transfer: UnsafeMutableRawPointer?, _: Int, _: Int, _: Int, _ sent: Int
) -> Int32 {
  guard let transfer else { return 0 }
  return Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue().report(sent: Int64(sent)) ? 0 : 1
}
