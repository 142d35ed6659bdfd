internal import CCurl
import Glibc
import Platform

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
  /// Whether the head of a response is enough: the rest of a longer body is not read, and what does not come of it is not
  /// missed; otherwise the request fails.
  private let cuts: Bool
  /// Whether the head of a response has come that is not an interim one.
  private var hasHead = false
  /// Whether there is a response, although the transfer of its body failed.
  var isAnswered: Bool { cuts && hasHead }
  /// Whether the server has asked for the body (`100 Continue`).
  private(set) var isAskedForBody = false
  /// Whether the request may connect to an address of the server's.
  private let admits: (@Sendable (IPAddress) -> Bool)?
  private let continues: (Int64) -> Bool
  /// The reason why this client aborted the request.
  var failure: HTTPClientError?

  init(
    file: Int32? = nil, maxBytes: Int = .max, cuts: Bool = false, admits: (@Sendable (IPAddress) -> Bool)? = nil,
    continues: @escaping (Int64) -> Bool = { _ in true }
  ) {
    self.file = file
    self.maxBytes = maxBytes
    self.cuts = cuts
    self.admits = admits
    self.continues = continues
  }

  /// The maximum length of a line of a head that is kept, in bytes.
  static let maxHeaderBytes = 8 << 10

  var response: HTTPResponse { HTTPResponse(status: status, headers: headers, body: body) }

  /// Receives a line of a head; the head of an interim response is replaced by the next one.
  fileprivate func receive(header: String) {
    if header.hasPrefix("HTTP/") {
      status = header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      headers = [:]
      hasHead = false
      if status == 100 { isAskedForBody = true }
    } else if header.utf8.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
      hasHead = status >= 200
    } else if let colon = header.firstIndex(of: ":") {
      let value = header[header.index(after: colon)...].drop { $0 == " " }
      headers[header[..<colon].lowercased()] = String(value.prefix { $0 != "\r" && $0 != "\n" && $0 != "\r\n" })
    }
  }

  /// Receives a piece of the body; false if it cannot be written, or if the body is too long.
  fileprivate func receive(body piece: UnsafeRawBufferPointer) -> Bool {
    guard let file, status == 200 else {
      guard piece.count <= maxBytes - body.count else {
        if cuts {
          body += piece.prefix(maxBytes - body.count)
          return false
        }
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

  /// Opens a socket for an address, to which libcurl then connects without resolving a name again; -1 if it must not.
  fileprivate func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    if let admits {
      // libcurl's `addr` is the beginning of one that is as long as its family needs.
      let start = UnsafeRawPointer(address) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
      let found = IPAddress(socketAddress: UnsafeRawBufferPointer(start: start, count: Int(address.pointee.addrlen)))
      guard let found, admits(found) else {
        // Without the address: who names a server must not learn what a name resolves to in the network of the service.
        failure = HTTPClientError("the address of the server is not public", at: .admission)
        return -1
      }
    }
    let address = address.pointee
    let number = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.`protocol`)
    // Without a limit, megabytes wait in the kernel on a slow link: they count as sent, so that the progress is wrong and a
    // transfer that still moves looks stalled (tcp(7), TCP_NOTSENT_LOWAT).
    var unsent: Int32 = 128 << 10
    setsockopt(number, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &unsent, socklen_t(MemoryLayout<Int32>.size))
    return number
  }

  /// Reports the number of bytes of the body that have been sent; false if the request must be aborted.
  fileprivate func report(sent: Int64) -> Bool { continues(sent) }
}

func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let transfer else { return 0 }
  let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
  // Nothing that is asked for is nearly as long, and libcurl passes lines of 100 KB.
  if line.count <= Transfer.maxHeaderBytes {
    Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue().receive(header: ExternalText.latin(line))
  }
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

func openSocket(
  _ transfer: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let transfer, let address else { return -1 }
  return Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue().open(address)
}
