/// A multipart/form-data body to send.
package struct MultipartForm: Sendable {
  package var boundary = "take5-test-boundary"
  private var content: [UInt8] = []

  package init() {}

  /// Adds a part; a nil file name makes it a plain field.
  package mutating func add(
    _ name: String, filename: String? = nil, contentType: String? = nil, _ bytes: [UInt8]
  ) {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\""
    if let filename { head += "; filename=\"\(filename)\"" }
    if let contentType { head += "\r\nContent-Type: \(contentType)" }
    content += Array((head + "\r\n\r\n").utf8) + bytes + Array("\r\n".utf8)
  }

  /// The whole body.
  package var bytes: [UInt8] { content + Array("--\(boundary)--\r\n".utf8) }

  /// The Content-Type that goes with it.
  package var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}
