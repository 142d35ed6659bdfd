/// Reads the multipart/form-data body of a request, part by part, as it arrives.
package struct MultipartReader: Sendable {
  private var parser: MultipartParser
  private var chunks: RequestBody.Iterator

  /// Checks the Content-Type of the request and reads nothing yet.
  package init(_ request: Request, limits: MultipartLimits) throws(MultipartError) {
    parser = try MultipartParser(contentType: request.headers["Content-Type"], limits: limits)
    chunks = request.body.makeAsyncIterator()
  }

  /// The next event; nil at the end of a well-formed body.
  ///
  /// Throws `MultipartError` or `BodyError`.
  package mutating func next() async throws -> MultipartParser.Event? {
    while true {
      if let event = try parser.next() { return event }
      guard let chunk = try await chunks.next() else {
        try parser.finish()
        return nil
      }
      parser.feed(chunk)
    }
  }
}

extension MultipartParser {
  /// Creates a parser for the boundary of a Content-Type.
  package init(contentType: String?, limits: MultipartLimits) throws(MultipartError) {
    guard let type = contentType.flatMap(HeaderParameters.init), type.value == "multipart/form-data" else {
      throw .notMultipart(contentType: contentType)
    }
    guard let boundary = type["boundary"] else { throw .badBoundary }
    try self.init(boundary: boundary, limits: limits)
  }
}

/// The limits of a multipart body.
package struct MultipartLimits: Sendable, Hashable {
  /// The maximum number of parts.
  package var parts: Int
  /// The maximum length of the header section of one part, in bytes.
  package var headerBytes: Int
  /// The maximum length of one part, in bytes.
  package var partBytes: Int64

  /// Browsers write two header fields, one of them with the name of the file.
  package static let maxHeaderBytes = 8 << 10

  package init(parts: Int, headerBytes: Int = maxHeaderBytes, partBytes: Int64) {
    self.parts = parts
    self.headerBytes = headerBytes
    self.partBytes = partBytes
  }
}

/// The reason why a body is not valid multipart/form-data (RFC 7578; RFC 2046, section 5.1).
package enum MultipartError: Error, Hashable, CustomStringConvertible {
  /// The Content-Type is not multipart/form-data.
  case notMultipart(contentType: String?)
  /// The boundary parameter is missing, longer than 70 characters or has invalid characters.
  case badBoundary
  /// The body ended before its closing boundary.
  case endedEarly
  /// Something other than a line break or `--` follows a boundary.
  case badDelimiter
  /// The header section of a part exceeds the limit, in bytes.
  case headersTooLong(limit: Int)
  /// A line in the header section of a part has no colon or an invalid field name.
  case badHeader
  /// A part has no `Content-Disposition: form-data` with a name.
  case unnamedPart
  /// A part is in base64 or quoted-printable, which RFC 7578, section 4.7, deprecates.
  case encodedPart(name: String)
  /// The body has more parts than allowed.
  case tooManyParts(limit: Int)
  /// A part has more bytes than allowed.
  case partTooLarge(name: String, limit: Int64)

  package var description: String {
    switch self {
    case .notMultipart(let type): "the Content-Type is \(type ?? "missing"), not multipart/form-data"
    case .badBoundary: "the Content-Type has no valid boundary parameter"
    case .endedEarly: "the body ends before its closing boundary"
    case .badDelimiter: "a boundary is followed by something other than a line break"
    case .headersTooLong(let limit): "the header of a part is longer than \(limit) bytes"
    case .badHeader: "a line in the header of a part is not `Name: value`"
    case .unnamedPart: "a part has no `Content-Disposition: form-data` with a name"
    case .encodedPart(let name): "the part \(name) has a Content-Transfer-Encoding; send parts without one"
    case .tooManyParts(let limit): "there are more than \(limit) parts"
    case .partTooLarge(let name, let limit): "the part \(name) is longer than \(limit) bytes"
    }
  }
}
