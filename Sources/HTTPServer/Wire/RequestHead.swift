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
  package var host: String? {
    guard let authority else { return nil }
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      let rest = authority[authority.index(after: end)...]
      return rest.isEmpty || rest.hasPrefix(":") ? authority[..<end].dropFirst().lowercasedASCII : nil
    }
    return authority.prefix { $0 != ":" }.lowercasedASCII
  }

  /// The host that the client means, with its port; a target in absolute form overrules the field (RFC 9112, section
  /// 3.2.2).
  package var authority: String? { target.authority ?? headers["Host"] }

  /// The length of the body, where it is told before.
  package var contentLength: Int64? {
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
