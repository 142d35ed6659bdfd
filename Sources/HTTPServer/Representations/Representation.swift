/// Something that can be sent whole or in part and whose version has a name: decides between 200, 206, 304, 412 and 416
/// (RFC 9110 sections 13 and 14).
package struct Representation: Sendable {
  /// In bytes.
  package let length: Int64
  package let entityTag: EntityTag
  /// The fields every answer about it carries, such as Content-Type and Cache-Control.
  package let headers: HeaderFields

  /// - Parameters:
  ///   - length: in bytes.
  ///   - entityTag: strong, so that parts of two answers fit together.
  ///   - headers: without ETag, Accept-Ranges and Content-Range, which are added.
  package init(length: Int64, entityTag: EntityTag, headers: HeaderFields) {
    self.length = length
    self.entityTag = entityTag
    self.headers = headers
  }

  /// Answers GET or HEAD; `body` is asked for the bytes that are sent, and for a HEAD too, as its length is told.
  package func respond(
    to request: Request, body: (Range<Int64>) throws -> ResponseBody
  ) throws -> Response {
    var headers = headers
    headers["ETag"] = entityTag.description
    headers["Accept-Ranges"] = "bytes"
    switch selection(method: request.method, headers: request.headers) {
    case .whole: return Response(.ok, headers: headers, body: try body(0..<length))
    case .part(let range):
      headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
      return Response(.partialContent, headers: headers, body: try body(range))
    case .notModified: return Response(.notModified, headers: headers)
    case .preconditionFailed: throw entityTag.preconditionFailed(remedy: "Fetch it without If-Match.")
    case .unsatisfiable:
      throw Problem(
        .rangeNotSatisfiable, detail: "The range asked for lies outside the \(length) bytes there are.",
        remedy: "Ask for a range below \(length).", headers: ["Content-Range": "bytes */\(length)"])
    }
  }

  enum Selection: Hashable {
    case whole
    case part(Range<Int64>)
    case notModified
    case preconditionFailed
    case unsatisfiable
  }

  /// What a request with these header fields gets, in the order of RFC 9110 section 13.2.2.
  func selection(method: String, headers: HeaderFields) -> Selection {
    if entityTag.isExcluded(by: headers) { return .preconditionFailed }
    let ifNoneMatch = headers.list("If-None-Match")
    if ifNoneMatch.contains("*") || ifNoneMatch.contains(where: { EntityTag($0)?.isEquivalent(to: entityTag) == true })
    {
      return .notModified
    }
    // Ranges are defined for GET alone, and only of the version that the client has begun with.
    guard method == "GET", let field = headers["Range"], let range = ByteRange(field: field) else { return .whole }
    if let condition = headers["If-Range"], EntityTag(condition)?.isSame(as: entityTag) != true { return .whole }
    return range.resolve(length: length).map { .part($0) } ?? .unsatisfiable
  }
}
