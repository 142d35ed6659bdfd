internal import CCurl
import Glibc
package import Platform

/// One part of a form: the text of a field, or a file.
package struct FormPart: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    /// A file, with its length at the time when it was opened.
    case file(path: String, OpenFile, count: Int64)
  }

  let name: String
  let type: String
  let content: Content

  /// Creates a field with JSON.
  package init(name: String, json: [UInt8]) {
    self.name = name
    type = "application/json"
    content = .bytes(json)
  }

  /// Creates a field with text.
  package init(name: String, text: String) {
    self.name = name
    type = "text/plain;charset=utf-8"
    content = .bytes(Array(text.utf8))
  }

  /// Creates a file, which is read while it is sent; its name on the disk is not sent.
  package init(name: String, path: String, type: String) throws(SystemError) {
    let file = OpenFile(try Descriptor(reading: path))
    self.name = name
    self.type = type
    content = .file(path: path, file, count: try file.descriptor.size())
  }
}

/// A multipart form (RFC 7578; curl_mime_init(3)), whose files are read while it is sent.
struct MimeForm: ~Copyable {
  let form: OpaquePointer

  /// - Parameter transfer: receives the error if a file cannot be read.
  init(_ parts: [FormPart], of handle: borrowing EasyHandle, transfer: Transfer) {
    guard let form = handle.form() else { fatalError("no memory for a form") }
    self.form = form
    for part in parts { add(part, transfer) }
  }

  deinit { curl_mime_free(form) }

  private borrowing func add(_ part: FormPart, _ transfer: Transfer) {
    let new = curl_mime_addpart(form)
    var codes = [curl_mime_name(new, part.name), curl_mime_type(new, part.type)]
    switch part.content {
    case .bytes(let bytes):
      bytes.withUnsafeBytes { bytes in
        codes.append(curl_mime_data(new, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count))
      }
    case .file(let path, let file, let count):
      let reader = Unmanaged.passRetained(PartReader(path, file, count: count, transfer)).toOpaque()
      codes.append(curl_mime_filename(new, part.name))
      codes.append(curl_mime_data_cb(new, curl_off_t(count), readPart, seekPart, freePart, reader))
    }
    guard codes.allSatisfy({ $0 == CURLE_OK }) else { fatalError("no memory for a form") }
  }
}

/// Reads the file of one part, from the start again if the request is repeated.
private final class PartReader {
  private let path: String
  private let file: OpenFile
  private let count: Int64
  private let transfer: Transfer
  private var offset: Int64 = 0

  init(_ path: String, _ file: OpenFile, count: Int64, _ transfer: Transfer) {
    self.path = path
    self.file = file
    self.count = count
    self.transfer = transfer
  }

  /// Reads bytes and returns their number, 0 at the end; nil if the request must be aborted.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let wanted = Int(min(Int64(buffer.count), count - offset))
    guard wanted > 0 else { return 0 }
    do {
      let read = try file.descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
      // The Content-Length has already been sent.
      guard read > 0 else {
        transfer.failure = HTTPClientError(
          "\(path) became shorter while it was sent; send it again when it is complete")
        return nil
      }
      offset += Int64(read)
      return read
    } catch {
      transfer.failure = HTTPClientError("\(path) cannot be read: \(error)")
      return nil
    }
  }

  func seek(to offset: Int64) { self.offset = offset }
}

private func readPart(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ reader: UnsafeMutableRawPointer?
) -> Int {
  guard let buffer, let reader else { return ccurl_read_abort }
  let room = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
  return Unmanaged<PartReader>.fromOpaque(reader).takeUnretainedValue().read(into: room) ?? ccurl_read_abort
}

private func seekPart(_ reader: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
  guard let reader, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
  Unmanaged<PartReader>.fromOpaque(reader).takeUnretainedValue().seek(to: Int64(offset))
  return CURL_SEEKFUNC_OK
}

private func freePart(_ reader: UnsafeMutableRawPointer?) {
  if let reader { Unmanaged<PartReader>.fromOpaque(reader).release() }
}
