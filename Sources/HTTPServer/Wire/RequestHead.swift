/// The head of a request as it stood on the wire: what it asks for, and how its body is delimited (RFC 9112).
package struct RequestHead: Sendable, Hashable {
  package let method: String
  package let target: RequestTarget
  package let version: Version
  package let headers: HeaderFields
  /// How the end of the body is told.
  let framing: Framing

  /// The minor version of HTTP/1; no other is spoken here.
  package enum Version: String, Sendable {
    case http10 = "HTTP/1.0"
    case http11 = "HTTP/1.1"
  }

  enum Framing: Sendable, Hashable {
    case none
    case length(Int64)
    case chunked
  }

  /// The host that the client means, without its port and in small letters; nil where it names none.
  ///
  /// A target in absolute form overrules the field (RFC 9112, section 3.2.2).
  package var host: String? {
    guard let authority = target.authority ?? headers["Host"] else { return nil }
    if authority.hasPrefix("[") { return authority.prefix { $0 != "]" }.dropFirst().lowercasedASCII }
    return authority.prefix { $0 != ":" }.lowercasedASCII
  }

  /// The length of the body, where it is told before.
  var contentLength: Int64? {
    switch framing {
    case .none: 0
    case .length(let length): length
    case .chunked: nil
    }
  }

  var hasBody: Bool { contentLength != 0 }

  /// Whether the client waits for leave to send the body (RFC 9110, section 10.1.1).
  var expectsContinue: Bool {
    version == .http11 && hasBody && headers["Expect"]?.lowercasedASCII == "100-continue"
  }

  /// Whether the client ends the connection after the answer (RFC 9112, section 9.3).
  var endsConnection: Bool {
    let options = headers.list("Connection").map(\.lowercasedASCII)
    return options.contains("close") || version == .http10 && !options.contains("keep-alive")
  }
}
