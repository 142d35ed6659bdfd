/// Reads a request's multipart/form-data body part by part as it arrives.
package struct MultipartReader: Sendable {
  private var parser: MultipartParser
  private var chunks: RequestBody.Iterator

  /// Begins with the request's Content-Type; nothing is read yet.
  package init(_ request: Request, limits: MultipartLimits) throws(MultipartError) {
    parser = try MultipartParser(contentType: request.headers["Content-Type"], limits: limits)
    chunks = request.body.makeAsyncIterator()
  }

  /// The next event; nil when the whole body has been read and was well formed.
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
  /// Takes the boundary from a Content-Type.
  package init(contentType: String?, limits: MultipartLimits) throws(MultipartError) {
    guard let type = contentType.flatMap(HeaderParameters.init), type.value == "multipart/form-data" else {
      throw .notMultipart(contentType: contentType)
    }
    guard let boundary = type["boundary"] else { throw .badBoundary }
    try self.init(boundary: boundary, limits: limits)
  }
}
