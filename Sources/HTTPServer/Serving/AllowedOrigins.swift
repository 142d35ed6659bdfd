/// The origins whose web pages may read responses of the server (Fetch Standard, "HTTP-CORS protocol").
///
/// A page of an allowed origin sends its own credential, as every client does, and gets nothing that the credential does not give: a
/// cookie counts only with a header field that no page of another origin may send. Without an origin, a browser lets pages of the
/// server's own origin read, and no others.
package struct AllowedOrigins: Sendable, Hashable {
  /// The header field that only pages of the server's own origin may send.
  package static let ownField = "Take5-Console"

  private var origins: Set<String> = []
  private var allowsAll = false

  /// Allows no origin.
  package init() {}

  /// Allows the origins of a list; `*` is every origin.
  ///
  /// - Parameter list: such as `https://app.example.org`, `http://localhost:3000`, as browsers write them.
  /// - Throws: `InvalidOrigin` for an element that a browser never sends.
  package init(_ list: some Sequence<some StringProtocol>) throws(InvalidOrigin) {
    for element in list {
      let origin = String(element)
      if origin == "*" {
        allowsAll = true
      } else if Self.isOrigin(origin) {
        origins.insert(origin)
      } else {
        throw InvalidOrigin(text: origin)
      }
    }
  }

  /// An element of a list that is not an origin.
  package struct InvalidOrigin: Error, Sendable, Hashable {
    package let text: String
  }

  /// Whether a text is an origin as browsers serialize it (RFC 6454, section 6.1): in lower case, without the default port and
  /// without a path.
  private static func isOrigin(_ text: String) -> Bool {
    let isSecure = text.utf8.starts(with: "https://".utf8)
    guard isSecure || text.utf8.starts(with: "http://".utf8) else { return false }
    let authority = text.utf8.dropFirst(isSecure ? 8 : 7)
    let port = isSecure ? ":443" : ":80"
    return !authority.isEmpty && !authority.suffix(port.utf8.count).elementsEqual(port.utf8)
      && authority.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: ".-:[]".utf8.contains(byte)
        }
      }
  }

  /// Whether a page of an origin may read responses.
  package func allow(_ origin: String) -> Bool { allowsAll || origins.contains(origin) }

  /// What a page may read of the header, beyond what every page may.
  private static let exposed =
    "Accept-Patch, Accept-Ranges, Content-Range, ETag, Idempotency-Replayed, Location, Repr-Digest, Retry-After, Tus-Extension, "
    + "Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Complete, Upload-Defer-Length, Upload-Draft-Interop-Version, Upload-Expires, Upload-Incomplete, "
    + "Upload-Length, Upload-Limit, Upload-Metadata, Upload-Offset, WWW-Authenticate, X-Request-Id"

  /// The maximum length of the list of header fields that a page asks for, in bytes; pages of apps ask for some ten.
  private static let maxAskedBytes = 4 << 10

  /// The methods of all routes: a preflight asks before the route is known to the page.
  private static let methods = "DELETE, GET, HEAD, PATCH, POST, PUT"

  /// Adds what a browser asks of every response, also of a problem.
  ///
  /// - Parameter origin: the header field `Origin` of the request.
  func add(to headers: inout HeaderFields, origin: String?) {
    guard allowsAll || !origins.isEmpty else { return }
    // The response depends on the origin, whether or not the request has one.
    if !allowsAll { headers["Vary"] = headers["Vary"].map { "\($0), Origin" } ?? "Origin" }
    guard let origin, allow(origin) else { return }
    headers["Access-Control-Allow-Origin"] = allowsAll ? "*" : origin
    headers["Access-Control-Expose-Headers"] = Self.exposed
  }

  /// The response to a request by which a browser asks whether a page may send another one; nil if it is none, or of an origin
  /// that is not allowed. It needs no credential, since a browser sends none.
  func preflight(_ head: RequestHead) -> Response? {
    guard head.method == "OPTIONS", let origin = head.headers["Origin"], allow(origin),
      head.headers["Access-Control-Request-Method"] != nil,
      head.headers.values("Access-Control-Request-Headers").joined().utf8.count <= Self.maxAskedBytes
    else { return nil }
    var response = Response(
      .noContent, headers: ["Access-Control-Allow-Methods": Self.methods, "Access-Control-Max-Age": "7200"])
    // All that the page asks for but the server's own: the routes ignore what they do not know.
    let own = Self.ownField.lowercasedASCII
    let asked = head.headers.list("Access-Control-Request-Headers", maxBytes: Self.maxAskedBytes).filter { name in
      name.utf8.allSatisfy(\.isTokenCharacter) && !name.lowercasedASCII.utf8.elementsEqual(own.utf8)
    }
    if !asked.isEmpty { response.headers["Access-Control-Allow-Headers"] = asked.joined(separator: ", ") }
    return response
  }
}
