internal import CCurl
import Glibc
import Platform

/// A form of several parts (RFC 7578; curl_mime_init(3)), whose files are read while it is sent.
struct MimeForm: ~Copyable {
  let form: OpaquePointer

  /// - Parameter exchange: hears why a file could not be read.
  init(_ parts: [FormPart], of handle: borrowing EasyHandle, exchange: Exchange) {
    guard let form = handle.form() else { fatalError("no memory for a form") }
    self.form = form
    for part in parts { add(part, exchange) }
  }

  deinit { curl_mime_free(form) }

  private borrowing func add(_ part: FormPart, _ exchange: Exchange) {
    let new = curl_mime_addpart(form)
    var codes = [curl_mime_name(new, part.name), curl_mime_type(new, part.type)]
    switch part.content {
    case .bytes(let bytes):
      bytes.withUnsafeBytes { bytes in
        codes.append(curl_mime_data(new, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count))
      }
    case .file(let path, let file, let count):
      let reader = Unmanaged.passRetained(PartReader(path, file, count: count, exchange)).toOpaque()
      codes.append(curl_mime_filename(new, part.name))
      codes.append(curl_mime_data_cb(new, curl_off_t(count), readPart, seekPart, freePart, reader))
    }
    guard codes.allSatisfy({ $0 == CURLE_OK }) else { fatalError("no memory for a form") }
  }
}

/// Reads the file of one part, from the beginning again if the request is sent again.
private final class PartReader {
  private let path: String
  private let file: OpenFile
  private let count: Int64
  private let exchange: Exchange
  private var offset: Int64 = 0

  init(_ path: String, _ file: OpenFile, count: Int64, _ exchange: Exchange) {
    self.path = path
    self.file = file
    self.count = count
    self.exchange = exchange
  }

  /// How many bytes were read, 0 at the end; nil if the request must be given up.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let wanted = Int(min(Int64(buffer.count), count - offset))
    guard wanted > 0 else { return 0 }
    do {
      let read = try file.descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
      // Its length was promised.
      guard read > 0 else {
        exchange.failure = HTTPClientError("\(path) became shorter while it was sent; send it again when it is whole")
        return nil
      }
      offset += Int64(read)
      return read
    } catch {
      exchange.failure = HTTPClientError("\(path) cannot be read: \(error)")
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
