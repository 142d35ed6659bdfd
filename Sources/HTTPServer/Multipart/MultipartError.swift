/// Why a body is not multipart/form-data as RFC 7578 and RFC 2046 section 5.1 describe it.
package enum MultipartError: Error, Hashable, CustomStringConvertible {
  /// The Content-Type is another one.
  case notMultipart(contentType: String?)
  /// The boundary parameter is missing, longer than 70 characters or has characters none may have.
  case badBoundary
  /// The body ended before its closing boundary.
  case endedEarly
  /// Something other than a line break or `--` follows a boundary.
  case badDelimiter
  /// A part's header section is longer than allowed, in bytes.
  case headersTooLong(limit: Int)
  /// A line of a part's header section has no colon or a name that no field may have.
  case badHeader
  /// A part has no `Content-Disposition: form-data` with a name.
  case unnamedPart
  /// A part is in base64 or quoted-printable, which RFC 7578 section 4.7 forbids.
  case encodedPart(name: String)
  /// More parts than allowed.
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
    case .encodedPart(let name): "the part \(name) has a Content-Transfer-Encoding; parts are sent as they are"
    case .tooManyParts(let limit): "there are more than \(limit) parts"
    case .partTooLarge(let name, let limit): "the part \(name) is longer than \(limit) bytes"
    }
  }
}
