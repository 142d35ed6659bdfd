internal import CCurl
import Glibc
package import Platform

/// A request to the service.
package struct HTTPRequest: Sendable {
  /// What follows the head.
  package enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// Bytes of a file, which are read while they are sent; the path is for errors.
    case file(OpenFile, path: String, range: Range<Int64>)
  }

  package let method: String
  package let path: String
  package let headers: [(name: String, value: String)]
  package let body: Body
  /// The time without a byte in either direction after which the request fails, in seconds; nil: the client's default.
  package let timeout: Int?

  package init(
    _ method: String, _ path: String, headers: [(name: String, value: String)] = [], body: Body = .none,
    timeout: Int? = nil
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }
}

/// Reads the body of a request for libcurl, from the start again if libcurl repeats the request on another connection.
final class BodyReader {
  private let body: HTTPRequest.Body
  private let transfer: Transfer
  private(set) var offset: Int64 = 0

  /// - Parameter transfer: receives the error if a file cannot be read.
  init(_ body: HTTPRequest.Body, _ transfer: Transfer) {
    self.body = body
    self.transfer = transfer
  }

  /// The length of the body; nil if the request has none.
  var count: Int64? {
    switch body {
    case .none: nil
    case .bytes(let bytes): Int64(bytes.count)
    case .file(_, _, let range): range.upperBound - range.lowerBound
    }
  }

  /// Reads bytes and returns their number, 0 at the end; nil if the request must be aborted.
  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), (count ?? 0) - offset))])
    guard !room.isEmpty else { return 0 }
    let read: Int
    switch body {
    case .none: return 0
    case .bytes(let bytes):
      room.copyBytes(from: bytes[Int(offset)..<Int(offset) + room.count])
      read = room.count
    case .file(let file, let path, let range):
      do {
        read = try file.descriptor.read(into: room, at: range.lowerBound + offset)
      } catch {
        transfer.failure = HTTPClientError("\(path) cannot be read: \(error)")
        return nil
      }
      // The Content-Length has already been sent.
      guard read > 0 else {
        transfer.failure = HTTPClientError(
          "\(path) became shorter while it was sent; send it again when it is complete")
        return nil
      }
    }
    offset += Int64(read)
    return read
  }

  fileprivate func seek(to offset: Int64) { self.offset = offset }
}

func readBody(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ reader: UnsafeMutableRawPointer?
) -> Int {
  guard let buffer, let reader else { return ccurl_read_abort }
  let room = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
  return Unmanaged<BodyReader>.fromOpaque(reader).takeUnretainedValue().read(into: room) ?? ccurl_read_abort
}

func seekBody(_ reader: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
  guard let reader, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
  Unmanaged<BodyReader>.fromOpaque(reader).takeUnretainedValue().seek(to: Int64(offset))
  return CURL_SEEKFUNC_OK
}
