/// A representation with an entity tag, sent completely or as one range: chooses between 200, 206, 304, 412 and 416
/// (RFC 9110, sections 13 and 14).
package struct Representation: Sendable {
  /// In bytes.
  package let length: Int64
  package let entityTag: EntityTag
  /// The fields of each response, such as Content-Type and Cache-Control.
  package let headers: HeaderFields

  /// - Parameters:
  ///   - length: in bytes.
  ///   - entityTag: strong, so that a client may combine ranges of two responses.
  ///   - headers: without ETag, Accept-Ranges and Content-Range, which are added.
  package init(length: Int64, entityTag: EntityTag, headers: HeaderFields) {
    self.length = length
    self.entityTag = entityTag
    self.headers = headers
  }

  /// Responds to GET or HEAD. `body` returns the body of a range of bytes, also for HEAD, whose response has its
  /// length.
  package func respond(
    to request: Request, body: (Range<Int64>) async throws -> ResponseBody
  ) async throws -> Response {
    var headers = headers
    headers["ETag"] = entityTag.description
    headers["Accept-Ranges"] = "bytes"
    switch selection(method: request.method, headers: request.headers) {
    case .full: return Response(.ok, headers: headers, body: try await body(0..<length))
    case .part(let range):
      headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
      return Response(.partialContent, headers: headers, body: try await body(range))
    case .notModified: return Response(.notModified, headers: headers)
    case .preconditionFailed: throw entityTag.preconditionFailed(remedy: "Fetch it without If-Match.")
    case .unsatisfiable:
      throw Problem(
        .rangeNotSatisfiable, detail: "The range lies outside the \(length) bytes of the representation.",
        remedy: "Request a range below \(length).", headers: ["Content-Range": "bytes */\(length)"])
    }
  }

  enum Selection: Hashable {
    case full
    case part(Range<Int64>)
    case notModified
    case preconditionFailed
    case unsatisfiable
  }

  /// The selection for a request with these header fields, in the order of RFC 9110, section 13.2.2.
  func selection(method: String, headers: HeaderFields) -> Selection {
    if entityTag.failsIfMatch(in: headers) { return .preconditionFailed }
    if entityTag.matchesIfNoneMatch(in: headers) { return .notModified }
    // A range applies to GET only, and only to the version that the client already has a part of.
    guard method == "GET", let field = headers["Range"], let range = ByteRange(field: field) else { return .full }
    if let condition = headers["If-Range"], EntityTag(condition)?.isSame(as: entityTag) != true { return .full }
    return range.resolve(length: length).map { .part($0) } ?? .unsatisfiable
  }
}

/// The identifier of one version of a representation (RFC 9110, section 8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
  /// The text between the quotes.
  package let opaque: String
  /// Whether equal tags mean equivalent content, and not equal bytes.
  package let isWeak: Bool

  /// Creates a strong tag; `opaque` must not contain quotes.
  package init(strong opaque: String) {
    self.opaque = opaque
    isWeak = false
  }

  /// Parses `"…"` or `W/"…"`.
  package init?(_ text: some StringProtocol) {
    let quote = UInt8(ascii: "\"")
    var rest = text.trimmingBlanks.utf8
    isWeak = rest.starts(with: "W/".utf8)
    if isWeak { rest = rest.dropFirst(2) }
    guard rest.count >= 2, rest.first == quote, rest.last == quote else { return nil }
    rest = rest.dropFirst().dropLast()
    if rest.contains(quote) { return nil }
    opaque = String(Substring(rest))
  }

  package var description: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

  /// Whether If-Match in these header fields names other versions only (RFC 9110, section 13.1.1).
  package func failsIfMatch(in headers: HeaderFields) -> Bool {
    let wanted = names(in: "If-Match", of: headers, isStrong: true)
    return wanted.hasAny && !wanted.hasThis
  }

  /// Whether If-None-Match in these header fields names this version (RFC 9110, section 13.1.2).
  package func matchesIfNoneMatch(in headers: HeaderFields) -> Bool {
    names(in: "If-None-Match", of: headers, isStrong: false).hasThis
  }

  /// Whether a list of entity tags has one, and whether it has `*` or this tag, by the strong or the weak comparison (RFC 9110, section
  /// 8.8.3.2). A list may have thousands: nothing is stored for one.
  private func names(in field: String, of headers: HeaderFields, isStrong: Bool) -> (hasAny: Bool, hasThis: Bool) {
    let quoted = Array("\"\(opaque)\"".utf8)
    var result = (hasAny: false, hasThis: false)
    headers.visitElements(of: field, separatedBy: UInt8(ascii: ",")) { element in
      result.hasAny = true
      let isWeakElement = element.starts(with: "W/".utf8)
      let isThis = (isWeakElement ? element.dropFirst(2) : element[...]).elementsEqual(quoted)
      result.hasThis =
        element.elementsEqual(CollectionOfOne(UInt8(ascii: "*"))) || isThis && !(isStrong && (isWeak || isWeakElement))
      return !result.hasThis
    }
    return result
  }

  /// The problem for a request whose If-Match excludes this version.
  package func preconditionFailed(remedy: String) -> Problem {
    Problem(
      .outdatedVersion, detail: "The stored version is \(self), which If-Match does not name.", remedy: remedy)
  }

  /// Strong comparison (RFC 9110, section 8.8.3.2).
  func isSame(as other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque.utf8.elementsEqual(other.opaque.utf8) }
}

/// A single range of a Range field (RFC 9110, section 14.1.2).
enum ByteRange: Hashable {
  /// From an offset through an offset; without the second, to the end.
  case from(Int64, through: Int64?)
  /// The last bytes.
  case suffix(Int64)

  /// Parses a Range field; nil if it requests several ranges, has another unit or is malformed. The server ignores such
  /// a field.
  init?(field: String) {
    let parts = field.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, Substring(parts[0]).trimmingBlanks.lowercasedASCII == "bytes" else { return nil }
    // A further range has a comma, which is no digit.
    let ends = Substring(parts[1]).trimmingBlanks.utf8
      .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, let last?):
      guard first <= last else { return nil }
      self = .from(first, through: last)
    case (let first?, nil):
      guard ends[1].isEmpty else { return nil }
      self = .from(first, through: nil)
    case (nil, let count?):
      guard ends[0].isEmpty else { return nil }
      self = .suffix(count)
    case (nil, nil): return nil
    }
  }

  /// The range of bytes in a representation of the given length; nil if it has none of them.
  func resolve(length: Int64) -> Range<Int64>? {
    switch self {
    case .from(let first, let last):
      guard first < length else { return nil }
      return first..<(min(last ?? length - 1, length - 1) + 1)
    case .suffix(let count):
      guard count > 0, length > 0 else { return nil }
      return max(0, length - count)..<length
    }
  }

  // A number beyond Int64 is beyond the end of every file: the largest number has the same effect.
  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int64(Substring(digits)) ?? .max
  }
}
