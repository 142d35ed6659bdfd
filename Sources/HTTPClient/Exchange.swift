import Glibc

/// One request under way: what libcurl's calls bring of the answer, and how much is sent.
final class Exchange {
  private var status = 0
  private var headers: [String: String] = [:]
  private var body: [UInt8] = []
  /// The open file that takes the body of an answer with status 200; nil: memory does.
  private let file: Int32?
  private let progress: (Int64, Int64) -> Void
  /// Why the request was given up on this side.
  var failure: HTTPClientError?

  init(file: Int32? = nil, progress: @escaping (Int64, Int64) -> Void = { _, _ in }) {
    self.file = file
    self.progress = progress
  }

  /// What came.
  var answer: HTTPAnswer { HTTPAnswer(status: status, headers: headers, body: body) }

  /// A line of a head; an interim answer's goes when the next head begins.
  fileprivate func receive(header: String) {
    if header.hasPrefix("HTTP/") {
      status = header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      headers = [:]
    } else if let colon = header.firstIndex(of: ":") {
      let value = header[header.index(after: colon)...].drop { $0 == " " }
      headers[header[..<colon].lowercased()] = String(value.prefix { !$0.isNewline })
    }
  }

  /// Whether a piece of the body was taken.
  fileprivate func receive(body piece: UnsafeRawBufferPointer) -> Bool {
    guard let file, status == 200 else {
      body += piece
      return true
    }
    var rest = piece
    while !rest.isEmpty {
      let count = write(file, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        failure = HTTPClientError("what was received cannot be written: \(String(cString: strerror(errno)))")
        return false
      }
    }
    return true
  }

  fileprivate func tell(sent: Int64, of total: Int64) { if total > 0 { progress(sent, total) } }
}

func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ exchange: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let exchange else { return 0 }
  let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
  Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue().receive(header: line)
  return size * count
}

func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ exchange: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let exchange else { return 0 }
  let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
  return Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue().receive(body: piece) ? size * count : 0
}

func tellProgress(
  _ exchange: UnsafeMutableRawPointer?, _: Int, _: Int, _ total: Int, _ sent: Int
) -> Int32 {
  guard let exchange else { return 0 }
  Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue().tell(sent: Int64(sent), of: Int64(total))
  return 0
}
