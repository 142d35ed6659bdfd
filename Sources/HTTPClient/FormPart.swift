import Glibc
package import Platform

/// One part of a form: a field's text, or a file as it lies on the disk.
package struct FormPart: Sendable {
  private enum Content: Sendable {
    case bytes([UInt8])
    case file(path: String, count: Int64)
  }

  private let content: Content
  /// The part's own header lines, each ended.
  let head: String
  /// In bytes.
  let count: Int64

  /// A field of JSON.
  package init(name: String, json: [UInt8]) {
    content = .bytes(json)
    count = Int64(json.count)
    head = "Content-Disposition: form-data; name=\"\(name)\"\r\nContent-Type: application/json\r\n"
  }

  /// A file, read while it is sent; nothing of its own name is told.
  package init(name: String, path: String, type: String) throws(SystemError) {
    let file = try Descriptor(reading: path)
    count = try file.size()
    content = .file(path: path, count: count)
    head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(name).mp4\"\r\nContent-Type: \(type)\r\n"
  }

  func withChunks(_ body: ([UInt8]) throws(HTTPClientError) -> Void) throws(HTTPClientError) {
    switch content {
    case .bytes(let bytes): try body(bytes)
    case .file(let path, let count):
      do {
        let file = try Descriptor(reading: path)
        var offset: Int64 = 0
        while offset < count {
          let chunk = try file.bytes(count: Int(min(1 << 16, count - offset)), at: offset)
          guard !chunk.isEmpty else { throw HTTPClientError("\(path) became shorter while it was sent") }
          try body(chunk)
          offset += Int64(chunk.count)
        }
      } catch let error as HTTPClientError {
        throw error
      } catch {
        throw HTTPClientError("\(error)")
      }
    }
  }
}
